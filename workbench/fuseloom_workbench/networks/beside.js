/** The same contractions on the streaming machine, simulated on the same data. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const flow = h('section', {})
  const cpu = h('section', {})
  const ask = h('button', { class: 'button', type: 'button', on: { click: () => model.send_msg({ kind: 'dataflow' }) } }, 'Simulate it on the dataflow machine')
  el.append(flow, cpu)
  const count = n => Math.round(n).toLocaleString('en')
  const table = (titles, rows) => h('table', {}, h('thead', {}, h('tr', {}, ...titles.map(t => h('th', { scope: 'col' }, t)))), h('tbody', {}, rows.map(cells => h('tr', {}, ...cells.map(c => h('td', {}, c))))))

  function draw() {
    if (!there(model)) return
    const v = model.view
    ask.disabled = v.busy
    const link = v.explorer ? h('a', { href: v.explorer, target: '_blank' }, 'open these contractions in the explorer') : null
    const all = v.compare ? h('a', { href: v.compare, target: '_blank', title: 'One program, five ways: on random data of the seed, which are drawn there' }, 'compare them by every system') : null
    flow.replaceChildren(h('h3', {}, 'On the dataflow machine'),
      v.rows ? table(['regions', 'cycles', 'FLOPs', 'bytes moved', 'check'], v.rows.map(row => row.reason ? [row.name, '', '', '', h('span', { class: 'quiet' }, row.reason)]
        : [row.name === 'fused' ? 'all in one' : 'one each', count(row.cycles), count(row.flops), count(row.bytes), h('span', { class: row.ok ? 'quiet' : 'wrong', title: row.check }, row.ok ? '✓ matches the reference' : row.check)]))
        : h('p', { class: 'quiet' }, 'The same data and contractions, as streams: every contraction a region, and all in one.'),
      ...(v.rows ?? []).filter(row => row.loops).map(row => h('details', {}, h('summary', {}, 'what the one region iterates, as loops'), h('pre', { class: 'mono' }, row.loops))),
      h('p', {}, ...(v.rows ? [] : [ask, ' ']), ...(link ? [link] : []), ...(all ? [' · ', all] : [])))
    cpu.replaceChildren(h('h3', {}, 'On this CPU'), v.cpu.length ? table(['way', 'time', 'products', 'workspaces'], v.cpu.map(row => [row.way, time(row.measured), count(row.products), bytes(row.workspace)]))
      : h('p', { class: 'quiet' }, 'Run nests to see the best of each way.'))
  }

  draw()
  model.on('view', draw)
}
