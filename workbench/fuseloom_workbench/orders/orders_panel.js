/** Legal dataflow orders as a list to choose from. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const head = h('div', { class: 'head' })
  const list = h('div', { class: 'list', role: 'radiogroup', 'aria-label': 'Dataflow orders' })
  const rules = h('details', {})
  const pog = h('div', { class: 'pog' })
  el.append(head, pog, list, rules)
  let focused = null

  function draw() {
    if (!there(model)) return
    const v = model.view
    const plural = v.one ? '' : 's'
    head.replaceChildren(
      h('b', { 'data-help': 'orders.legal' }, `${v.total} legal order${plural}`), ' of region ', h('span', { class: 'mono' }, v.name),
      h('div', { class: 'quiet', 'data-help': v.ready ? 'orders.graphs' : null }, !v.ready ? 'estimating…'
        : v.all ? `${v.shown} distinct graph${v.shown === '1' ? '' : 's'}, ranked by estimated cycles`
          : `the first ${v.shown} distinct graphs, ranked by estimated cycles; drag rows to reach others`))
    head.append(...v.repairs.map(text => h('div', { class: 'repair' }, text)))
    partialOrder(v)
    const top = list.scrollTop
    list.replaceChildren(...v.entries.map((e, k) => entry(e, k, v)))
    if (v.ready && !v.listed)
      list.prepend(h('div', { class: 'entry chosen other' }, h('span', { class: 'mono' }, v.chosen), h('span', { class: 'quiet' }, 'current, not among those listed')))
    list.scrollTop = top
    if (focused !== null) list.querySelector(`[data-order="${CSS.escape(focused)}"]`)?.focus()
    focused = null
    const open = rules.open
    rules.replaceChildren(h('summary', {}, `${v.rules.length} constraint${v.rules.length === 1 ? '' : 's'} on the order`),
      h('ul', {}, v.rules.map(text => h('li', {}, text))))
    rules.open = open
  }

  /** The partial order as a graph: an arrow from what must stay outside to what is inside, and why. */
  function partialOrder(v) {
    const names = v.indices
    const column = Object.fromEntries(names.map(name => [name, 0]))
    const edges = v.edges.filter(([outer, inner]) => outer in column && inner in column)
    for (let k = 0; k < names.length; k++)
      for (const [outer, inner] of edges) column[inner] = Math.max(column[inner], column[outer] + 1)
    const rows = {}
    const row = Object.fromEntries(names.map(name => [name, (rows[column[name]] = (rows[column[name]] ?? -1) + 1)]))
    const wide = Math.max(...names.map(n => column[n])) + 1, tall = Math.max(...names.map(n => row[n])) + 1
    const W = Math.max(220, wide * 48), H = Math.max(44, tall * 30)
    const x = n => (column[n] + .5) * W / wide, y = n => (row[n] + .5) * H / ((rows[column[n]] ?? 0) + 1)
    const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `Partial order of ${names.join(', ')}: ${edges.map(([a, b]) => `${a} outside ${b}`).join(', ') || 'no constraint'}` })
    svg.style.maxHeight = `${H}px`
    const marker = shape('marker', { id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: 'auto' })
    marker.append(shape('path', { d: 'M0 0L8 4L0 8z', class: 'tip' }))
    svg.append(marker)
    const why = {}
    for (const [outer, inner, reason] of edges) (why[`${outer} ${inner}`] ||= []).push(reason)
    for (const [pair, reasons] of Object.entries(why)) {
      const [outer, inner] = pair.split(' ')
      const [x1, y1, x2, y2] = [x(outer), y(outer), x(inner), y(inner)]
      const length = Math.hypot(x2 - x1, y2 - y1) || 1
      const [dx, dy] = [(x2 - x1) / length * 12, (y2 - y1) / length * 12]
      const bend = column[inner] - column[outer] > 1 ? -16 : 0
      const line = `M${x1 + dx} ${y1 + dy}Q${(x1 + x2) / 2} ${(y1 + y2) / 2 + bend} ${x2 - dx} ${y2 - dy}`
      const g = shape('g', { class: 'edge' })
      g.append(shape('path', { d: line, class: 'grab' }), shape('path', { d: line, class: 'line', 'marker-end': 'url(#tip)' }), shape('title', {}, `${outer} outside ${inner}: ${reasons.join('; ')}`))
      svg.append(g)
    }
    for (const name of names) {
      const g = shape('g', { class: 'index' })
      g.append(shape('circle', { cx: x(name), cy: y(name), r: 11 }), shape('text', { x: x(name), y: y(name) + 4, 'text-anchor': 'middle' }, name), shape('title', {}, `index ${name}`))
      svg.append(g)
    }
    pog.replaceChildren(svg)
  }

  function entry(e, k, v) {
    const reachable = e.chosen || (!v.listed && k === 0)
    return h('button', {
      class: 'entry' + (e.chosen ? ' chosen' : ''), role: 'radio', 'aria-checked': String(e.chosen),
      'data-order': e.order.join(','), 'aria-disabled': e.reason ? 'true' : null, title: e.reason || `${e.text} ${e.alike}`,
      tabindex: reachable ? 0 : -1,
      on: {
        click: () => { focused = e.order.join(','); model.send_msg({ kind: 'choose', order: e.order }) },
        keydown: event => {
          const d = { ArrowUp: -1, ArrowDown: 1 }[event.key]
          if (!d) return
          event.preventDefault()
          list.querySelectorAll('button.entry')[k + d]?.focus()
        },
      },
    },
    h('span', { class: 'mark', 'aria-hidden': 'true' }, e.chosen ? '●' : '○'),
    h('span', { class: 'mono text' }, e.text, e.alike && h('span', { class: 'quiet alike', 'data-help': 'orders.graphs' }, e.alike)),
    e.reason ? h('span', { class: 'reason' }, e.reason)
      : h('span', { class: 'figure' }, h('span', { 'data-help': 'cycles.estimated' }, e.cycles), h('span', { class: 'quiet', 'data-help': 'factor.best' }, e.more ? ` ${e.more.replace(' best', '')}` : ' best'), e.simulated && h('b', { class: 'sim', 'data-help': 'cycles.simulated', title: 'Simulated' }, `sim. ${e.simulated}`)))
  }

  model.on('view', draw)
  draw()
}
