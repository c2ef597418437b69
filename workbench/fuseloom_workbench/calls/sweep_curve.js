/** Times of fused calls by the size of their tiles, beside whole calls; both axes are logarithmic. */
function sweepCurve(sweep) {
  const W = 520, H = 230, left = 58, right = 16, top = 12, bottom = 52
  const { rows, kept, fresh } = sweep
  const tiles = rows.map(row => row.tile)
  const ends = Math.min(...tiles) === Math.max(...tiles) ? [tiles[0] / 2, tiles[0] * 2] : [Math.min(...tiles), Math.max(...tiles)]
  const x = scale(ends, true, left, W - right, 8)
  const y = scale(span([...rows.map(row => row.fused), kept, fresh], true), true, H - bottom, top, 5)
  const best = rows.reduce((one, other) => other.fused < one.fused ? other : one)
  const told = row => `tiles of ${full(row.tile)}: ${time(row.fused)}; they work on ${bytes(row.working_set)}, ${row.level === 'memory' ? 'which no cache holds' : `which ${row.level} holds`}`
  const across = (value, kind, text, above) => [shape('line', { x1: left, x2: W - right, y1: y(value), y2: y(value), class: kind }), shape('text', { x: W - right, y: y(value) + (above ? -4 : 12), class: 'said', 'text-anchor': 'end' }, text)]
  const points = rows.map(row => `${x(row.tile)},${y(row.fused)}`).join(' ')
  const change = n => n === 0 || rows[n].level !== rows[n - 1].level
  return shape('svg', { viewBox: `0 0 ${W} ${H}`, class: 'sweep', role: 'img', 'aria-label': `Time by size of tiles. ${rows.map(told).join('. ')}. Whole calls: ${time(kept)} into room that is there, ${time(fresh)} with room allocated anew.` },
    ...y.ticks.flatMap(tick => [shape('line', { x1: left, x2: W - right, y1: y(tick), y2: y(tick), class: 'grid' }), shape('text', { x: left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, time(tick))]),
    ...rows.flatMap((row, n) => [shape('text', { x: x(row.tile), y: H - bottom + 16, 'text-anchor': 'middle' }, brief(row.tile)), change(n) ? shape('text', { x: x(row.tile), y: H - bottom + 30, 'text-anchor': 'middle', class: 'level' }, row.level) : null]),
    shape('text', { x: (left + W - right) / 2, y: H - 6, 'text-anchor': 'middle', class: 'said' }, 'rows, or elements, of a tile; below, what holds all that it works on'),
    ...across(kept, 'whole', 'whole calls, kept room', kept < fresh ? false : true), ...across(fresh, 'whole fresh', 'whole calls, fresh room', kept < fresh),
    shape('polyline', { points, class: 'curve' }),
    ...rows.map(row => shape('circle', { cx: x(row.tile), cy: y(row.fused), r: row === best ? 5 : 3.5, class: row === best ? 'point best' : 'point' }, shape('title', {}, told(row)))))
}
