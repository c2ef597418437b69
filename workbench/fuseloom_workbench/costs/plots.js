// Scatter plots of runs: estimate and simulation, Pareto front, memory against traffic, roofline.

/** Figures that may stand on an axis; all of them are better when they are fewer. */
const FIGURES = {
  cycles: { label: 'simulated cycles', short: 'cycles', help: 'cycles.simulated', of: r => r.cycles },
  bytes: { label: 'bytes moved', short: 'bytes moved', help: 'bytes', of: r => r.bytes },
  energy: { label: 'energy, nJ', short: 'energy', help: 'energy', of: r => known(r.energy) ? 1e9 * r.energy : null },
  area: { label: 'area, LUTs', short: 'area', help: 'area', of: r => r.area },
  on_chip: { label: 'on-chip memory, bytes', short: 'on-chip memory', help: 'on_chip', of: r => r.on_chip },
  flops: { label: 'FLOPs', short: 'FLOPs', help: 'flops', of: r => r.flops },
  lanes: { label: 'lanes', short: 'lanes', help: 'lanes', of: r => r.lanes },
}
const MARGIN = { left: 46, right: 10, top: 6, bottom: 36 }
const known = value => value !== null && value !== undefined && Number.isFinite(value)

/** FLOPs per byte: of what the memory moved where that was measured, else of what was asked for. */
const intensity = r => known(r.flops) && (r.moved || r.bytes) ? r.flops / (r.moved || r.bytes) : null
const rate = r => known(r.flops) && r.cycles ? r.flops / r.cycles : null

/** The runs that no other beats in both figures, by the first one; runs that are wrong beat nobody. */
function front(runs, x, y) {
  const able = runs.filter(r => r.ok !== false && known(x(r)) && known(y(r))).sort((a, b) => x(a) - x(b) || y(a) - y(b))
  let least = Infinity
  return able.filter(r => y(r) < least && ((least = y(r)), true))
}

/**
 * A plot: a frame with axes, then what `under` draws, then a mark per run.
 * `at` has width and height, x and y their label and figure; `spans` may widen an axis; `panel` is what the panel does.
 */
function scatter(panel, { name, x, y, runs, at, log, spans = {}, under, about, whiskers }) {
  const usable = runs.filter(r => known(x.of(r)) && known(y.of(r)))
  const shown = log ? usable.filter(r => x.of(r) > 0 && y.of(r) > 0) : usable
  const area = { x1: at.width - MARGIN.right, y0: MARGIN.top, y1: at.height - MARGIN.bottom }
  const sy = scale(spans.y || span(shown.map(y.of), log), log, area.y1, area.y0, Math.floor((area.y1 - area.y0) / 24))
  area.x0 = Math.max(MARGIN.left, 26 + Math.max(...sy.ticks.map(tick => wide(brief(tick)))))
  const sx = scale(spans.x || span(shown.map(x.of), log), log, area.x0, area.x1, Math.floor((area.x1 - area.x0) / 30))
  const svg = s('svg', { class: 'plot', width: at.width, height: at.height, viewBox: `0 0 ${at.width} ${at.height}`, role: 'group', 'data-plot': name, 'aria-label': `${about}. ${shown.length} run${shown.length === 1 ? '' : 's'}; arrow keys go from one to another, Enter loads it.` })
  svg.append(s('defs', {}, s('clipPath', { id: `area-${name}` }, s('rect', { x: area.x0, y: area.y0, width: area.x1 - area.x0, height: area.y1 - area.y0 }))))
  svg.append(...axes(sx, sy, area, x, y))
  const layer = s('g', { 'clip-path': `url(#area-${name})` })
  svg.append(layer)
  const clear = under ? under(layer, sx, sy, area, svg) || [] : []
  const places = [...shown].sort((a, b) => panel.rank(a) - panel.rank(b)).map(r => ({ run: r, x: sx(x.of(r)), y: sy(y.of(r)), r: panel.current(r) ? 12 : 7, text: panel.nameOf(r) + (whiskers ? unsure(r) : '') }))
  if (whiskers) for (const p of places) layer.append(...interval(p, sx))
  for (const place of placedNames(places, area, clear)) {
    const { run, text } = places[place.k]
    svg.append(s('text', { class: 'name', x: place.x, y: place.y, 'text-anchor': place.anchor, 'data-of': run.id }, text))
    places[place.k].named = true
  }
  for (const p of [...places].reverse()) svg.append(p.node = panel.mark(p.run, p.x, p.y))
  panel.walk(svg, places)
  const gone = usable.length - shown.length
  return { svg, shown: shown.length, unnamed: places.filter(p => !p.named).length, gone }
}

function axes(sx, sy, area, across, up) {
  const parts = [s('rect', { class: 'frame-line', x: area.x0, y: area.y0, width: area.x1 - area.x0, height: area.y1 - area.y0 })]
  let end = -Infinity
  for (const tick of sx.ticks) {
    const x = sx(tick), text = brief(tick), half = wide(text) / 2
    parts.push(s('line', { class: 'grid', x1: x, x2: x, y1: area.y0, y2: area.y1 }))
    if (x - half < end + 4) continue
    end = x + half
    parts.push(s('text', { class: 'tick', x, y: area.y1 + 14, 'text-anchor': 'middle' }, text))
  }
  for (const tick of sy.ticks) {
    const y = sy(tick)
    parts.push(s('line', { class: 'grid', x1: area.x0, x2: area.x1, y1: y, y2: y }),
      s('text', { class: 'tick', x: area.x0 - 5, y: y + 4, 'text-anchor': 'end' }, brief(tick)))
  }
  const middle = (area.y0 + area.y1) / 2
  parts.push(s('text', { class: 'axis', 'data-help': across.help, x: (area.x0 + area.x1) / 2, y: area.y1 + 30, 'text-anchor': 'middle' }, across.label),
    s('text', { class: 'axis', 'data-help': up.help, x: 11, y: middle, 'text-anchor': 'middle', transform: `rotate(-90 11 ${middle})` }, up.label))
  return parts
}

/** A sign for estimates that are known to be rough, or of which nothing is known. */
const unsure = r => r.basis === 'metadata' ? ' ≈' : r.basis ? '' : ' ?'

/** The interval in which a run was expected, if it is wider than its mark. */
function interval({ run, x, y }, sx) {
  if (!known(run.low) || !known(run.high)) return []
  const clip = v => Math.min(Math.max(sx(sx.log ? Math.max(v, sx.low / 10) : v), -20), 4000)
  const from = clip(run.low), to = clip(run.high)
  if (x - from < 9 && to - x < 9) return []
  return [s('path', { class: 'whisker', 'data-help': 'cycles.interval', d: `M${from} ${y}H${to}M${from} ${y - 4}V${y + 4}M${to} ${y - 4}V${y + 4}` })]
}

function estimatePlot(panel, runs, at, log) {
  const both = runs.filter(r => known(r.estimated))
  const spanned = span(both.flatMap(r => [r.estimated, r.cycles]), log)
  return scatter(panel, {
    name: 'estimate', runs: both, at, log, whiskers: true, spans: { x: spanned, y: spanned },
    about: 'Estimated against simulated cycles, with the line where they are equal and a band of 10 % on each side',
    x: { label: 'estimated cycles', help: 'cycles.estimated', of: r => r.estimated }, y: { label: 'simulated cycles', help: 'cycles.simulated', of: r => r.cycles },
    under: (layer, sx, sy) => {
      const [low, high] = [sx.log ? sx.low / 2 : 0, sx.high * 2]
      const line = share => [low, high].map(v => `${sx(v)} ${sy(v * share)}`)
      const [a, b] = line(1.1), [d, c] = line(0.9)
      layer.append(s('path', { class: 'band', d: `M${a}L${b}L${c}L${d}Z` }), s('path', { class: 'identity', d: `M${line(1).join('L')}` }))
    },
  })
}

function frontPlot(panel, runs, at, log, name, xKey, yKey, about) {
  const x = FIGURES[xKey], y = FIGURES[yKey]
  const best = front(runs.filter(r => !panel.problem || r.problem === panel.problem), x.of, y.of)
  return scatter(panel, {
    name, runs, at, log, x, y, about: `${about}: ${y.label} against ${x.label}; on the front ${best.map(panel.nameOf).join(', ') || 'nothing'}`,
    under: (layer, sx, sy, area) => {
      const points = best.filter(r => !log || (x.of(r) > 0 && y.of(r) > 0)).map(r => [sx(x.of(r)), sy(y.of(r))])
      if (!points.length) return []
      const steps = points.map(([px, py], k) => k ? `H${px}V${py}` : `M${px} ${area.y0}V${py}`).join('') + `H${area.x1}`
      const text = best.length === 1 ? `none beats ${best[0].name}` : `${best.length} on the front`
      const width = wide(text)
      const free = box => points.every(([px, py]) => apart(box, { x0: px - 14, x1: px + 14, y0: py - 14, y1: py + 14 }))
      const boxes = [area.y1, area.y0 + 17].flatMap(y => [area.x0 + 5, area.x1 - width - 5].map(x => ({ x0: x, x1: x + width, y0: y - 17, y1: y })))
      const place = boxes.find(free) || boxes[0]
      layer.append(s('path', { class: 'beaten', d: `${steps}V${area.y0}Z` }), s('path', { class: 'front', d: steps }),
        s('text', { class: 'roof-name', 'data-help': 'front', x: place.x0, y: place.y1 - 6 }, text))
      return [place]
    },
  })
}

function rooflinePlot(panel, runs, at, log) {
  const chosen = panel.chosen()
  const roofs = chosen && (chosen.bandwidth || chosen.peak) ? chosen : null
  const usable = runs.filter(r => known(intensity(r)) && known(rate(r)))
  const tall = usable.map(rate)
  const most = Math.max(...tall, 0)
  if (roofs?.peak && roofs.peak < 60 * most) tall.push(roofs.peak)
  return scatter(panel, {
    name: 'roofline', runs: usable, at, log, spans: { y: span(tall, log) },
    about: 'Roofline: FLOPs per cycle against FLOPs per byte',
    x: { label: 'FLOPs per byte moved', help: 'intensity', of: intensity }, y: { label: 'FLOPs per cycle', help: 'flops.rate', of: rate },
    under: (layer, sx, sy, area) => {
      if (!roofs) return []
      const clear = []
      const tell = (px, py, text, anchor, help) => {
        const w = wide(text)
        const x0 = Math.max(area.x0 + 2, Math.min(anchor === 'end' ? px - w : px, area.x1 - w - 2))
        let y = Math.max(area.y0 + 12, Math.min(py, area.y1 - 4))
        while (clear.some(b => !apart({ x0, x1: x0 + w, y0: y - 10, y1: y + 3 }, b))) y += 14
        layer.append(s('text', { class: 'roof-name', 'data-help': help, x: x0, y }, text))
        clear.push({ x0, x1: x0 + w, y0: y - 10, y1: y + 3 })
      }
      const { bandwidth, peak } = roofs
      const end = sx.high
      if (peak) {
        const from = bandwidth ? Math.max(peak / bandwidth, sx.low) : sx.low
        if (from < end) layer.append(s('path', { class: 'roof', d: `M${sx(from)} ${sy(peak)}H${area.x1}` }))
        if (peak <= sy.high) tell(area.x1 - 2, sy(peak) + 13, `${full(peak)} FLOPs per cycle at most`, 'end', 'flops.peak')
        else tell(area.x1 - 2, area.y0 + 12, `↑ ${full(peak)} FLOPs per cycle at most`, 'end', 'flops.peak')
      }
      if (bandwidth) {
        const to = peak ? Math.min(peak / bandwidth, end) : end, low = log ? Math.max(sx.low, sy.low / bandwidth) : 0
        if (to > low) layer.append(s('path', { class: 'roof', d: `M${sx(low)} ${sy(low * bandwidth)}L${sx(to)} ${sy(to * bandwidth)}` }))
        const inside = to > low && low * bandwidth < sy.high
        const middle = log ? Math.sqrt(low * Math.min(to, sy.high / bandwidth)) : Math.min(to, sy.high / bandwidth) / 2
        const about = `${brief(bandwidth)} bytes per cycle`
        if (inside) tell(sx(middle) + 8, sy(middle * bandwidth) + 4, about, 'start', 'bandwidth.peak')
        else tell(area.x0 + 4, area.y0 + 12, `↑ ${about}`, 'start', 'bandwidth.peak')
      }
      return clear
    },
  })
}
