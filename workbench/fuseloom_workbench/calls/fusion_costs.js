/** Room of a tile against the caches, elements computed more than once, and times beside whole calls. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const count = n => Math.round(n).toLocaleString('en')
  const run = h('button', { class: 'button primary', type: 'button', on: { click: () => model.send_msg({ kind: 'measure' }) } }, 'Measure it')
  const tune = h('button', { class: 'button', type: 'button', title: 'Sizes of tiles and places to break; the fastest few are measured in turns', on: { click: () => model.send_msg({ kind: 'tune' }) } }, 'Find the fastest')
  const every = h('button', { class: 'button', type: 'button', title: 'The schedule as it is, with one size of tiles after another', on: { click: () => model.send_msg({ kind: 'sweep' }) } }, 'Sweep sizes of tiles')
  const counts = h('section', {})
  const times = h('section', {})
  el.append(h('div', { class: 'both' }, counts, times))

  function draw() {
    const v = model.view
    if (!there(model)) return
    run.disabled = tune.disabled = every.disabled = v.busy
    const c = v.counts
    counts.replaceChildren(h('h3', {}, 'Room and work'), ...(c ? [
      h('div', { class: 'bars' }, ...bars(c)),
      h('p', {}, `${count(c.calls)} calls; intermediates of a tile have ${bytes(c.room)}, at most, at once, and with its parts of the other data it works on ${bytes(c.working_set)}.`),
      h('p', {}, `Read and written: ${c.traffic.filter(one => one.bytes).map(one => `${bytes(one.bytes)} through ${one.level}`).join(', ')}.`),
      h('div', { class: 'wrap', tabindex: 0, role: 'group', 'aria-label': 'Elements computed' }, h('table', {}, h('thead', {}, h('tr', {}, ...['computed', 'elements', 'per element needed'].map(t => h('th', { scope: 'col' }, t)))), h('tbody', {}, c.recomputation.map(row => h('tr', { class: row.factor > 1.005 ? 'more' : null }, h('th', { scope: 'row' }, row.name), h('td', {}, count(row.computed)), h('td', {}, `${row.factor.toFixed(2)} ×`)))))),
    ] : [h('p', { class: 'quiet' }, 'Not counted.')]))
    const t = v.times
    times.replaceChildren(h('h3', {}, 'Does fusing help?'), h('p', { class: 'row' }, run, tune, every), ...(t ? [
      h('p', { class: t.verdict === 'fuse' ? 'verdict good' : 'verdict no' }, h('b', {}, t.verdict === 'fuse' ? 'Fuse' : 'Do not fuse'), `: ${t.reason}.`),
      h('table', {}, h('thead', {}, h('tr', {}, ...['schedule', 'time', 'calls', 'room'].map(x => h('th', { scope: 'col' }, x)))), h('tbody', {},
        ...t.rows.map((row, n) => h('tr', { class: n ? null : 'best' }, h('th', { scope: 'row' }, `fused, tiles of ${count(row.tile)}${row.breaks.length ? `, broken before ${row.breaks.join(', ')}` : ''}`), h('td', {}, time(row.fused)), h('td', {}, count(row.calls)), h('td', {}, bytes(row.room)))),
        h('tr', {}, h('th', { scope: 'row' }, 'whole calls, room that is there'), h('td', {}, time(t.kept)), h('td', {}), h('td', {})), h('tr', {}, h('th', { scope: 'row' }, 'whole calls, room allocated anew'), h('td', {}, time(t.fresh)), h('td', {}), h('td', {})))),
      h('p', { class: 'quiet' }, `Medians of rounds in turns on this server; largest error ${t.rows[0].error.toExponential(1)}.`),
    ] : [h('p', { class: 'quiet' }, 'Fused calls and whole calls are run in turns, and their results compared with one computed by other means.')]), ...(v.sweep ? [sweepCurve(v.sweep)] : []))
  }

  /** The room on a logarithmic line, with the caches as marks. */
  function bars(c) {
    const most = Math.max(c.room, ...c.caches, 4096) * 4
    const at = value => `${100 * Math.log(Math.max(value, 256) / 256) / Math.log(most / 256)}%`
    return [h('div', { class: 'bar', role: 'img', 'aria-label': `Room of ${bytes(c.room)}; caches of ${c.caches.map(bytes).join(', ') || 'unknown size'}` }, h('i', { class: 'fill', style: `width: ${at(c.room)}` }), ...c.caches.map((cache, n) => h('i', { class: 'cache', style: `left: ${at(cache)}`, title: `cache of ${bytes(cache)}` }, h('small', {}, `L${n + 1} ${bytes(cache)}`))))]
  }

  draw()
  model.on('view', draw)
}
