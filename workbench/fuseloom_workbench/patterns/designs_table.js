/** Every layer of a network on the array, and several arrays and buffers compared. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const count = n => Math.round(n).toLocaleString('en')
  const share = part => `${(part * 100).toFixed(1)} %`
  const map = h('button', { class: 'button primary', type: 'button', on: { click: () => model.send_msg({ kind: 'layers' }) } }, 'Map every layer')
  const budget = h('input', { type: 'text', size: 8, 'aria-label': 'Largest area, in multipliers', placeholder: 'any', spellcheck: 'false' })
  budget.addEventListener('keydown', event => { if (event.key === 'Enter') compare.click() })
  const whole = h('input', { type: 'checkbox' })
  const wholeLabel = h('label', { class: 'flag' }, whole, ' all layers of the network')
  const compare = h('button', { class: 'button primary', type: 'button', on: { click: () => {
    const area = Number(budget.value)
    model.send_msg({ kind: 'compare', budget: budget.value.trim() && area > 0 ? area : null, whole: whole.checked })
  } } }, 'Compare arrays and buffers')
  const layers = h('section', { class: 'layers' })
  const designs = h('section', { class: 'designs' })
  const layersOut = h('div', {})
  const designsOut = h('div', {})
  layers.append(h('h3', {}, 'The network'), h('p', {}, map), layersOut)
  designs.append(h('h3', {}, 'Which array and buffer'), h('p', { class: 'row' }, h('label', {}, 'within an area of ', budget, ' multipliers '), wholeLabel, compare), designsOut)
  el.append(h('div', { class: 'both' }, designs, layers))

  const table = (label, titles, rows) => h('div', { class: 'wrap', tabindex: 0, role: 'group', 'aria-label': label }, h('table', {}, h('thead', {}, h('tr', {}, ...titles.map(t => h('th', { scope: 'col' }, t)))), h('tbody', {}, rows)))

  function draw() {
    const v = model.view
    if (!there(model)) return
    map.disabled = compare.disabled = v.busy
    layers.hidden = wholeLabel.hidden = !v.several
    layersOut.replaceChildren(...(v.layers ? told(v.layers) : [h('p', { class: 'quiet' }, 'Each layer is saturated, mapped and checked on its own data.')]))
    designsOut.replaceChildren(...(v.designs ? compared(v.designs) : [h('p', { class: 'quiet' }, 'Arrays of 8 × 8 to 256 × 256, each with buffers of 64 KiB to 1 MiB: cycles with transfers against area.')]))
  }

  function told(made) {
    const rows = made.rows.map(row => h('tr', {}, h('th', { scope: 'row' }, row.name), [count(row.calls), count(row.cycles), share(row.utilisation), row.duplication === null ? '' : `${row.duplication.toFixed(2)} ×`, count(row.nodes), `${row.seconds.toFixed(2)} s`, row.error.toExponential(1)].map(x => h('td', {}, x)), h('td', { class: 'wrong' }, row.unmapped)))
    return [h('p', {}, `${count(made.rows.length)} layers on ${made.array.join(' × ')}: ${count(made.cycles)} cycles of calls, ${count(made.with_transfers)} with transfers, ${share(made.utilisation)} utilised, ${bytes(made.read)} read, ${bytes(made.written)} written; largest error ${made.error.toExponential(1)}`),
      table('Layers', ['layer', 'calls', 'cycles', 'utilisation', 'moved per element', 'nodes', 'time to map', 'largest error', 'not mapped'], rows),
      ...(made.others.length ? [h('p', { class: 'quiet' }, `Not mapped: ${made.others.map(one => `${one.name} (${one.reason})`).join('; ')}`)] : [])]
  }

  function compared(made) {
    const rows = made.rows.map(row => h('tr', { class: row.best ? 'best' : null }, h('th', { scope: 'row' }, `${row.rows} × ${row.columns}`), [bytes(row.buffer), count(row.area), count(row.compute), count(row.cycles), bytes(row.bytes), share(row.utilisation)].map(x => h('td', {}, x)), h('td', {}, row.best ? h('span', { class: 'badge good' }, 'best') : '',
      h('button', { class: 'button', type: 'button', 'aria-label': `Use ${row.rows} by ${row.columns} with ${bytes(row.buffer)}`, on: { click: () => model.send_msg({ kind: 'change', changes: { rows: row.rows, columns: row.columns, buffer: row.buffer } }) } }, 'use'))))
    return [h('div', { class: 'chart' }, plot(made), table('Designs', ['array', 'buffer', 'area, multipliers', 'cycles of calls', 'with transfers', 'moved', 'utilisation', ''], rows)),
      h('p', { class: 'quiet' }, `Area: one per multiplier, ${made.byte_area} per byte of the buffer; ${made.bandwidth} bytes per cycle${made.budget ? `; budget ${count(made.budget)}` : ''}.`)]
  }

  /** Cycles against area, both logarithmic. */
  function plot(made) {
    const W = 460, H = 210, left = 52, bottom = 34, top = 10, right = 14
    const range = values => [Math.min(...values) * .85, Math.max(...values) * 1.18]
    const [a0, a1] = range(made.rows.map(r => r.area)), [c0, c1] = range(made.rows.map(r => Math.max(1, r.cycles)))
    const at = (value, low, high, from, to) => from + (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low)) * (to - from)
    const x = value => at(value, a0, a1, left, W - right), y = value => at(Math.max(1, value), c0, c1, H - bottom, top)
    const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': 'Cycles with transfers against area of each design' })
    for (const tick of logTicks(c0, c1, 5)) svg.append(shape('line', { x1: left, x2: W - right, y1: y(tick), y2: y(tick), class: 'grid' }), shape('text', { x: left - 5, y: y(tick) + 4, 'text-anchor': 'end' }, brief(tick)))
    for (const tick of logTicks(a0, a1, 6)) svg.append(shape('text', { x: x(tick), y: H - bottom + 15, 'text-anchor': 'middle' }, brief(tick)))
    if (made.budget && made.budget > a0 && made.budget < a1) svg.append(shape('line', { x1: x(made.budget), x2: x(made.budget), y1: top, y2: H - bottom, class: 'budget' }))
    svg.append(shape('text', { x: (left + W) / 2, y: H - 4, 'text-anchor': 'middle' }, 'area, multipliers'), shape('text', { x: 2, y: top + 2 }, 'cycles'))
    for (const row of made.rows) {
      const dot = shape('circle', { cx: x(row.area), cy: y(row.cycles), r: row.best ? 6 : 4, class: row.best ? 'dot best' : 'dot' })
      dot.append(shape('title', {}, `${row.rows} × ${row.columns}, ${bytes(row.buffer)}: ${count(row.cycles)} cycles, area ${count(row.area)}`))
      svg.append(dot)
    }
    return h('figure', {}, svg)
  }

  draw()
  model.on('view', draw)
}
