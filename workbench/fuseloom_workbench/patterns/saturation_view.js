/** The e-graph: how it grew, iteration by iteration, and one class with what it is made of and what uses it. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const count = n => n.toLocaleString('en')
  const head = h('div', { class: 'head' })
  const growth = h('figure', { class: 'growth' })
  const upTo = h('input', { type: 'range', min: 1, step: 1, 'aria-label': 'Iterations', on: { change: () => model.send_msg({ kind: 'change', changes: { iterations: Number(upTo.value) } }) } })
  const limit = h('label', { class: 'limit' }, 'stop after ', upTo, h('output', {}))
  const iteration = h('p', { class: 'quiet', role: 'status' })
  const around = h('div', { class: 'around' })
  el.append(head, growth, limit, iteration, around)
  const visited = []

  function draw() {
    const v = model.view
    if (!v.steps) {
      head.replaceChildren(h('b', {}, 'E-graph'))
      for (const part of [growth, limit, iteration, around]) part.hidden = true
      return
    }
    for (const part of [growth, limit, iteration, around]) part.hidden = false
    const why = { saturated: 'saturated: nothing new comes of any rule', iterations: 'stopped by the limit of iterations', nodes: 'stopped by the limit of nodes', seconds: 'stopped by the limit of time' }[v.stopped]
    head.replaceChildren(h('b', {}, 'E-graph'), h('span', { class: v.stopped === 'saturated' ? 'badge good' : 'badge old' }, why),
      h('span', { class: 'quiet' }, `${count(v.nodes)} nodes in ${count(v.classes)} classes, ${v.steps.length} iterations, ${v.seconds.toFixed(2)} s${v.optimal ? ', extraction proved' : ''}`))
    picture(v)
    upTo.max = Math.max(v.steps.length, Math.min(v.limit, 60))
    upTo.value = Math.min(v.limit, Number(upTo.max))
    limit.lastChild.textContent = ` ${v.limit} iterations`
    neighbourhood(v)
  }

  /** Nodes and classes after each iteration. */
  function picture(v) {
    const W = 460, H = 140, left = 44, bottom = 32, top = 8, right = 96
    const rows = [{ nodes: v.first, classes: v.first }, ...v.steps]
    const most = Math.max(...rows.map(row => row.nodes))
    const x = n => left + n * (W - left - right) / Math.max(1, rows.length - 1), y = value => H - bottom - value * (H - bottom - top) / most
    const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, role: 'group', 'aria-label': `Nodes and classes after each of ${v.steps.length} iterations: ${v.steps.map(s => s.nodes).join(', ')} nodes` })
    for (const tick of evenTicks(0, most, 3).filter(Number.isInteger)) svg.append(shape('line', { x1: left, x2: W - right, y1: y(tick), y2: y(tick), class: 'grid' }), shape('text', { x: left - 5, y: y(tick) + 4, 'text-anchor': 'end' }, brief(tick)))
    for (const [kind, name] of [['classes', 'classes'], ['nodes', 'nodes']]) {
      svg.append(shape('polyline', { points: rows.map((row, n) => `${x(n)},${y(row[kind])}`).join(' '), class: kind }))
      svg.append(shape('text', { x: W - right + 6, y: y(rows.at(-1)[kind]) + (kind === 'nodes' ? 0 : 10), class: kind }, `${brief(rows.at(-1)[kind])} ${name}`))
    }
    rows.forEach((row, n) => {
      const hit = shape('rect', { x: x(n) - 6, y: top, width: 12, height: H - bottom - top, class: 'hit', role: 'img', tabindex: n ? 0 : -1, 'aria-label': n ? `Iteration ${n}` : 'Given' })
      const tell = () => {
        const hits = Object.entries(row.hits ?? {})
        iteration.textContent = n ? `iteration ${n}: ${count(row.nodes)} nodes, ${count(row.classes)} classes; ${hits.length ? hits.map(([name, k]) => `${name} ${count(k)}`).join(', ') : 'nothing new'}` : `the given term: ${count(row.nodes)} nodes`
      }
      hit.addEventListener('pointerenter', tell)
      hit.addEventListener('focus', tell)
      svg.append(hit)
      if (rows.length <= 16 || n % 5 === 0) svg.append(shape('text', { x: x(n), y: H - bottom + 13, 'text-anchor': 'middle' }, String(n)))
    })
    svg.append(shape('text', { x: (left + W - right) / 2, y: H - 4, 'text-anchor': 'middle' }, 'iterations'))
    growth.replaceChildren(svg)
    iteration.textContent ||= 'Point at an iteration for what it did.'
  }

  /** A class between the nodes that use it and the classes that it is made of. */
  function neighbourhood(v) {
    const c = v.class
    if (!c) { around.replaceChildren(); return }
    if (visited.at(-1) !== c.number) visited.push(c.number)
    const look = number => () => model.send_msg({ kind: 'class', number })
    const door = (number, extra = '') => h('button', { type: 'button', class: 'door', 'data-class': number, on: { click: look(number) } }, `#${number}`, extra)
    const operands = [...new Set(c.nodes.flatMap(node => node.operands))]
    around.replaceChildren(
      h('div', { class: 'steps' }, h('b', {}, `Class #${c.number}`), shapeChips(c.shape), c.number === c.root ? h('span', { class: 'badge' }, 'the whole term') : h('button', { class: 'button', type: 'button', on: { click: look(c.root) } }, 'the whole term'),
        visited.length > 1 ? h('button', { class: 'button', type: 'button', on: { click: () => { visited.pop(); look(visited.pop())() } } }, 'Back') : null),
      h('div', { class: 'columns' },
        h('section', {}, h('h3', {}, `used by ${count(c.users_total)}`), h('ul', {}, c.users.map(user => h('li', { class: user.chosen ? 'chosen' : null }, door(user.number), h('code', {}, user.text)))),
          c.users_total > c.users.length ? h('p', { class: 'quiet' }, `and ${count(c.users_total - c.users.length)} more`) : null),
        h('section', {}, h('h3', {}, `${count(c.total)} equal ${c.total === 1 ? 'node' : 'nodes'}`), h('ul', {}, c.nodes.map(node => h('li', { class: node.chosen ? 'chosen' : null, title: node.chosen ? 'extraction took this one' : null }, h('code', {}, node.text), node.chosen ? h('span', { class: 'badge good' }, 'taken') : null))),
          c.total > c.nodes.length ? h('p', { class: 'quiet' }, `and ${count(c.total - c.nodes.length)} more`) : null),
        h('section', {}, h('h3', {}, `made of ${count(operands.length)} ${operands.length === 1 ? 'class' : 'classes'}`), h('ul', {}, operands.slice(0, 40).map(number => h('li', {}, door(number), c.around[number] ? shapeChips(c.around[number].shape) : null, c.around[number] ? h('span', { class: 'quiet' }, ` ${count(c.around[number].nodes)} ${c.around[number].nodes === 1 ? 'node' : 'nodes'}`) : null))))))
  }

  draw()
  model.on('view', draw)
}
