/** Calls of the array in time: weights loaded, vectors streamed, results drained, and the transfers they wait for. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const count = n => Math.round(n).toLocaleString('en')
  const share = part => `${(part * 100).toFixed(1)} %`
  const head = h('div', { class: 'head' })
  const facts = h('dl', { class: 'facts' })
  const chart = h('figure', {})
  const said = h('p', { class: 'quiet', role: 'status' })
  const missing = h('div', { class: 'missing' })
  const table = h('details', {}, h('summary', {}, 'The calls as a table'), h('div', { class: 'wrap', tabindex: 0, role: 'group', 'aria-label': 'Calls' }))
  el.append(head, facts, chart, said, missing, table)
  const HINT = 'Point at a call for its phases.'

  function draw() {
    const v = model.view
    const none = !v.calls
    for (const part of [facts, chart, said, missing, table]) part.hidden = none
    head.replaceChildren(h('b', {}, 'Calls of the array'), ...(none ? [] : [h('span', { class: 'quiet' }, `${v.array[0]} × ${v.array[1]}, weight-stationary: load + stream + drain`),
      h('span', { class: v.error <= 1e-4 ? 'badge good' : 'badge wrong', title: 'against the given computation, relative to its largest value' }, `largest error ${v.error.toExponential(1)}`)]))
    if (none) return
    const fact = (name, value, title) => h('div', { title }, h('dt', {}, name), h('dd', {}, value))
    facts.replaceChildren(fact('calls', count(v.total), 'of the array, one after another'), fact('cycles of calls', `${count(v.compute)} cycles`, 'without waiting for the memory'), fact('with transfers', `${count(v.cycles)} cycles`, 'until the last result is in memory'),
      fact('waiting', v.cycles ? share(v.stalled / v.cycles) : '—', 'share of the cycles in which the array waits for the memory'), fact('utilisation', share(v.utilisation), 'multiplications, of those that the whole array could do in the cycles of its calls'),
      fact('read', bytes(v.read), 'from memory into the buffer'), fact('written', bytes(v.written), 'from the buffer to memory'),
      fact('moved per element', v.duplication === null ? '—' : `${v.duplication.toFixed(2)} ×`, 'elements that calls stream and hold, per element of the given tensors: more than 1 where windows overlap or vectors are streamed again'))
    missing.replaceChildren(...v.unmapped.map(one => h('p', { class: 'wrong' }, `not mapped: ${one.shape}: ${one.reasons.join('; ')}`)),
      ...(v.unmapped_total > v.unmapped.length ? [h('p', {}, `and ${v.unmapped_total - v.unmapped.length} more`)] : []), ...(!v.total && !v.unmapped_total ? [h('p', { class: 'quiet' }, 'The term has no dot product: nothing is computed by the array.')] : []))
    chart.hidden = said.hidden = table.hidden = !v.total
    if (!v.total) return
    picture(v)
    said.textContent = HINT
    table.lastChild.replaceChildren(h('table', {}, h('thead', {}, h('tr', {}, ...['call', 'rows', 'columns', 'vectors', 'load', 'stream', 'drain', 'cycles', 'begins in cycle', 'utilisation'].map(t => h('th', { scope: 'col' }, t)))),
      h('tbody', {}, v.calls.map((call, n) => h('tr', {}, [n + 1, call.rows, call.columns, call.batch, call.load, call.stream, call.drain, call.cycles, call.begins].map(x => h('td', {}, count(x))), h('td', {}, share(call.utilisation)))))),
    v.total > v.calls.length ? h('p', { class: 'quiet' }, `and ${count(v.total - v.calls.length)} more`) : '')
  }

  function picture(v) {
    const W = Math.max(300, chart.clientWidth), H = 92, left = 70, right = 10
    const last = v.calls.at(-1)
    const end = v.total > v.calls.length ? last.begins + last.cycles : v.cycles
    const x = cycle => left + cycle * (W - left - right) / end
    const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `Timeline of ${v.total} calls over ${v.cycles} cycles` })
    const bar = (from, length, y, height, kind) => shape('rect', { x: x(from), y, width: Math.max(.4, x(from + length) - x(from)), height, class: kind })
    v.calls.forEach((call, n) => {
      const group = shape('g', { class: 'call' })
      group.append(bar(call.transfer[0], call.transfer[1] - call.transfer[0], 50, 16, 'transfer'), bar(call.begins, call.load, 14, 28, 'load'), bar(call.begins + call.load, call.stream, 14, 28, 'stream'), bar(call.begins + call.load + call.stream, call.drain, 14, 28, 'drain'))
      group.addEventListener('pointerenter', () => { said.textContent = `call ${n + 1} of ${count(v.total)}: ${call.rows} × ${call.columns} weights, ${count(call.batch)} vectors; ${call.load} to load + ${count(call.stream)} to stream + ${call.drain} to drain = ${count(call.cycles)} cycles from cycle ${count(call.begins)}; transfers take ${count(call.transfer[1] - call.transfer[0])} cycles; ${share(call.utilisation)} utilised` })
      svg.append(group)
    })
    for (const tick of evenTicks(0, end, 8)) svg.append(shape('line', { x1: x(tick), x2: x(tick), y1: 70, y2: 75, class: 'tick' }), shape('text', { x: x(tick), y: 88, 'text-anchor': 'middle' }, brief(tick)))
    svg.append(shape('text', { x: 0, y: 32 }, 'array'), shape('text', { x: 0, y: 62 }, 'memory'), shape('text', { x: 0, y: 88 }, 'cycles'))
    chart.replaceChildren(svg, h('figcaption', { class: 'legend' }, ...[['load', 'weights loaded'], ['stream', 'vectors streamed'], ['drain', 'results drained'], ['transfer', 'transfers']].map(([kind, text]) => h('span', {}, h('span', { class: `swatch ${kind}` }), text)),
      v.total > v.calls.length ? h('span', {}, `the first ${count(v.calls.length)} of ${count(v.total)} calls`) : null))
  }

  draw()
  model.on('view', draw)
  let width = 0  // drawn for
  new ResizeObserver(() => {
    if (!model.view.total || chart.clientWidth === width) return
    width = chart.clientWidth
    picture(model.view)
  }).observe(chart)
}
