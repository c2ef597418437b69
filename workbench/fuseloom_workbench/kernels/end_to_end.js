/** The speed-up of a whole model: by the paper's formula and by Amdahl's law, and what was measured of this module. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const run = h('button', { class: 'button', type: 'button', title: 'This module with its operations one by one, and with its kernels, in turns on this server', on: { click: () => model.send_msg({ kind: 'measure' }) } }, 'Measure this module')
  const ratio = slider('Fusable ratio, percent', 0, 100, 1, () => F, n => { F = n / 100 }, () => 100 * F, 0, 100, '%')
  const speed = slider('Speed-up of fused kernels, times', 0, 4, .05, () => S, n => { S = n }, () => S, 1, 16, '×')
  const told = h('p', { class: 'told', role: 'status' })
  const plot = h('div', {})
  const key = (kind, text) => h('span', {}, h('span', { class: `swatch ${kind}` }), text)
  const legend = h('div', { class: 'legend' }, key('paper', '1 + F · (1 − 1/S), the paper'), key('exact', '1 / (1 − F · (1 − 1/S)), Amdahl'), key('measured', 'measured'))
  const found = h('p', { class: 'quiet' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'End to end'), run), h('div', { class: 'line' }, ratio.field('fusable ratio F: share of the time, %'), speed.field('speed-up of fused kernels S, ×')), told, plot, legend, found)
  var F = .5, S = 2
  let base = ''

  /** A slider with a number; the one of speed-ups is logarithmic. */
  function slider(label, min, max, step, get, set, shown, least, most, unit) {
    const log = unit === '×'
    const range = h('input', { type: 'range', min, max, step, 'aria-label': label, on: { input: () => { set(log ? 2 ** Number(range.value) : Number(range.value)); draw() } } })
    const number = h('input', { type: 'text', inputmode: 'decimal', size: 5, 'aria-label': `${label}, as a number`, on: { change: () => { const n = Number(number.value); if (number.value.trim() && Number.isFinite(n)) set(Math.min(most, Math.max(least, n))); draw() } } })
    return {
      field: text => h('div', { class: 'field' }, h('span', {}, text), h('span', { class: 'power' }, range, number)),
      put: () => { range.value = log ? Math.log2(get()) : shown(); number.value = String(+shown().toPrecision(3)) },
    }
  }

  const paper = (f, s) => 1 + f * (1 - 1 / s)
  const exact = (f, s) => 1 / Math.max(1 - f * (1 - 1 / s), 1e-9)

  function draw() {
    const v = model.view
    if (!there(model)) return
    run.disabled = v.busy
    const m = v.measured
    const now = JSON.stringify(m)
    if (m && now !== base) { F = m.fusable_ratio; S = Math.max(1, m.fusion_speedup) }
    base = now
    ratio.put()
    speed.put()
    told.textContent = `With F = ${(100 * F).toFixed(0)} % and S = ${S.toFixed(2)} ×: ${paper(F, S).toFixed(2)} × by the paper's formula, ${exact(F, S).toFixed(2)} × by Amdahl's law.`
    const W = 560, H = 250, left = 46, right = 14, top = 12, bottom = 42
    const x = scale([0, 1], false, left, W - right, 6)
    const high = Math.min(S, Math.max(exact(.9, S), paper(1, S), m ? m.speedup : 0, 1.2)) * 1.05 + .02
    const y = scale([Math.min(1, m ? m.speedup : 1) - .02, Math.max(high, m ? m.speedup * 1.05 : 0)], false, H - bottom, top, 5)
    const points = f => Array.from({ length: 101 }, (_, k) => k / 100).filter(a => f(a, S) <= y.high).map(a => `${x(a)},${y(f(a, S))}`).join(' ')
    plot.replaceChildren(shape('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `Speed-up of the whole by the fusable ratio. ${told.textContent}${m ? ` Measured: ${m.speedup.toFixed(2)} ×.` : ''}` },
      ...y.ticks.flatMap(tick => [shape('line', { class: 'grid', x1: left, x2: W - right, y1: y(tick), y2: y(tick) }), shape('text', { x: left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, `${+tick.toPrecision(3)} ×`)]),
      ...x.ticks.map(tick => shape('text', { x: x(tick), y: H - bottom + 15, 'text-anchor': 'middle' }, `${Math.round(100 * tick)} %`)),
      shape('text', { x: (left + W - right) / 2, y: H - 6, 'text-anchor': 'middle' }, 'fusable ratio F: share of the time that can be fused'),
      shape('line', { class: 'here', x1: x(F), x2: x(F), y1: top, y2: H - bottom }),
      shape('polyline', { class: 'curve paper', points: points(paper) }), shape('polyline', { class: 'curve exact', points: points(exact) }),
      shape('circle', { class: 'point paper', cx: x(F), cy: y(Math.min(paper(F, S), y.high)), r: 5 }), shape('circle', { class: 'point exact', cx: x(F), cy: y(Math.min(exact(F, S), y.high)), r: 5 }),
      m ? shape('circle', { class: 'measured', cx: x(m.fusable_ratio), cy: y(m.speedup), r: 6.5 }, shape('title', {}, `measured: ${m.speedup.toFixed(2)} ×`)) : null))
    found.textContent = m ? measured(m) : 'Nothing was measured of this module yet. The formula of the paper is the beginning of a series for the law: close where little is saved, and less elsewhere.'
  }

  function measured(m) {
    const none = m.evaluated.length ? ` Kernels without a form in C, run by NumPy on both sides: ${m.evaluated.slice(0, 5).join(', ')}.` : ''
    const left = m.left_out.length ? ` Left out on both sides: ${m.left_out.join(', ')}.` : ''
    return `Measured in turns on this server: ${time(m.fused)} with ${m.kernels[0].toLocaleString('en')} kernels of deep fusion, ${time(m.baseline)} with ${m.kernels[1].toLocaleString('en')} of XLA's rules, so ${m.speedup.toFixed(2)} ×; with F = ${(100 * m.fusable_ratio).toFixed(0)} % and S = ${m.fusion_speedup.toFixed(2)} × as measured, ${m.predicted.toFixed(2)} × by the paper's formula and ${m.amdahl.toFixed(2)} × by the law.${none}${left}`
  }

  draw()
  model.on('view', draw)
}
