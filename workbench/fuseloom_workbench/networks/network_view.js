/** A tensor network, its indices as lines, and its contraction tree, which can be changed. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const net = h('figure', {}, h('figcaption', {}, 'Network: an index is a line, or a dot where more than two have it; open ends stay'))
  const tree = h('figure', {}, h('figcaption', {}, 'Tree: drag a node on another to contract these two first · m marks, Enter joins, s swaps'))
  const said = h('p', { class: 'text mono' })
  el.append(h('div', { class: 'both' }, net, tree), said)
  let marked = null
  let focused = null

  function draw() {
    if (!there(model)) return
    const v = model.view
    const picture = network(v)
    const grown = treePicture(v)
    net.querySelector('svg')?.remove()
    net.append(picture)
    tree.querySelector('svg')?.remove()
    tree.append(grown)
    said.replaceChildren(...v.contractions.map(text => h('span', {}, text)))
    if (focused !== null) tree.querySelector(`[data-place="${focused}"]`)?.focus()
    focused = null
  }

  function network(v) {
    const W = 360, H = 250, R = 88
    const n = v.operands.length
    const at = v.operands.map((_, k) => {
      const angle = -Math.PI / 2 + 2 * Math.PI * k / n
      return n === 1 ? [W / 2, H / 2] : [W / 2 + R * 1.25 * Math.cos(angle), H / 2 + R * .85 * Math.sin(angle)]
    })
    const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `Tensor network: ${v.operands.map(o => `${o.name} with ${o.indices.join(', ')}`).join('; ')}` })
    const lines = shape('g', { class: 'lines' })
    const labels = shape('g', { class: 'labels' })
    const middle = points => [points.reduce((s, p) => s + p[0], 0) / points.length, points.reduce((s, p) => s + p[1], 0) / points.length]
    const between = {}
    const open = {}
    for (const [index, size] of Object.entries(v.extents)) {
      const ends = v.operands.flatMap((o, k) => o.indices.includes(index) ? [k] : [])
      const stays = v.result.indices.includes(index)
      const label = `${index} ${size.toLocaleString('en')}`
      if (ends.length === 1) {
        // an open end: outwards from its operand, one beside the other
        const [x, y] = at[ends[0]]
        const of = open[ends[0]] = (open[ends[0]] ?? 0) + 1
        const angle = Math.atan2(y - H / 2, x - W / 2 || .001) + (of - 1) * .55 - .2
        const to = [x + 40 * Math.cos(angle), y + 34 * Math.sin(angle)]
        lines.append(shape('line', { x1: x, y1: y, x2: to[0], y2: to[1], class: stays ? 'open' : 'summed' }))
        text(to, label)
        continue
      }
      let centre = middle(ends.map(k => at[k]))
      let named = null  // where its name stands, if not at the middle: lines cross there
      if (ends.length === 2) {
        const key = ends.join()
        const nth = between[key] = (between[key] ?? 0) + 1
        const [a, b] = [at[ends[0]], at[ends[1]]]
        const off = (nth % 2 ? -1 : 1) * Math.floor(nth / 2) * 26
        const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1
        centre = [centre[0] - off * (b[1] - a[1]) / length, centre[1] + off * (b[0] - a[0]) / length]
        const beside = [centre[0] * 2 - (a[0] + b[0]) / 2, centre[1] * 2 - (a[1] + b[1]) / 2]
        const along = .36
        named = [0, 1].map(d => (1 - along) ** 2 * a[d] + 2 * along * (1 - along) * beside[d] + along ** 2 * b[d])
        if (stays) centre = named
        lines.append(shape('path', { d: `M${a} Q${beside} ${b}`, class: stays ? 'open' : 'summed' }))
      } else {
        const many = between.many = (between.many ?? 0) + 1
        centre = [centre[0] + 24 * Math.cos(2.4 * many), centre[1] + 20 * Math.sin(2.4 * many)]
        named = [centre[0], centre[1] + 14]
        for (const k of ends) lines.append(shape('line', { x1: at[k][0], y1: at[k][1], x2: centre[0], y2: centre[1], class: stays ? 'open' : 'summed' }))
        lines.append(shape('circle', { cx: centre[0], cy: centre[1], r: 4, class: stays ? 'dot open' : 'dot' }))
      }
      if (stays) {
        const to = [centre[0] + 20, centre[1] - 16]
        lines.append(shape('line', { x1: centre[0], y1: centre[1], x2: to[0], y2: to[1], class: 'open' }))
      }
      text(stays ? [centre[0] + 24, centre[1] - 18] : named ?? centre, label)
    }
    function text([x, y], content) {
      const made = shape('text', { x: Math.min(W - 22, Math.max(22, x)), y: Math.min(H - 6, Math.max(10, y + 4)), 'text-anchor': 'middle' })
      made.textContent = content
      labels.append(made)
    }
    const nodes = v.operands.map((o, k) => {
      const made = shape('g', { class: 'operand', transform: `translate(${at[k]})` }, shape('circle', { r: 17 }), shape('text', { 'text-anchor': 'middle', dy: 4 }), shape('title'))
      made.children[1].textContent = o.name
      made.children[2].textContent = `${o.name}(${o.indices.join(',')}): ${o.shape.join(' × ')}, ${o.elements.toLocaleString('en')} stored elements`
      return made
    })
    svg.append(lines, ...nodes, labels)
    return svg
  }

  function treePicture(v) {
    const places = []
    let leaves = 0
    const walk = (node, depth) => {
      const made = { node, depth, x: 0, parts: node.parts.map(part => walk(part, depth + 1)) }
      made.x = made.parts.length ? (made.parts[0].x + made.parts.at(-1).x) / 2 : leaves++
      places.push(made)
      return made
    }
    const root = walk(v.tree, 0)
    const deep = Math.max(...places.map(p => p.depth))
    const W = Math.max(300, leaves * 84), H = Math.max(150, (deep + 1) * 62)
    const x = p => (p.x + .5) * W / leaves, y = p => 30 + p.depth * 62
    const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, role: 'group', 'aria-label': 'Contraction tree' })
    svg.style.maxHeight = `${H}px`
    const drawLines = p => p.parts.forEach(part => {
      svg.append(shape('line', { x1: x(p), y1: y(p), x2: x(part), y2: y(part), class: 'branch' }))
      drawLines(part)
    })
    drawLines(root)
    for (const p of places.sort((a, b) => a.depth - b.depth || a.x - b.x)) svg.append(nodeOf(p, x(p), y(p), svg))
    return svg
  }

  function nodeOf(p, x, y, svg) {
    const { node } = p
    const place = node.place.join('.')
    const inner = node.parts.length > 0
    const wide = Math.max(40, 8 * (node.name.length + node.indices.length + 3))
    const name = `${node.name}(${node.indices.join(',')})`
    const made = shape('g', { class: `node${inner ? ' inner' : ''}${marked === place ? ' marked' : ''}`, transform: `translate(${x} ${y})`, tabindex: 0, role: 'button', 'data-place': place,
      'aria-label': inner ? `${name}, sums ${node.summed.join(', ') || 'nothing'}` : `operand ${name}` },
    shape('rect', { x: -wide / 2, y: -13, width: wide, height: 26, rx: 6 }), shape('text', { 'text-anchor': 'middle', dy: 4 }),
    inner && node.summed.length ? shape('text', { class: 'sum', x: wide / 2 + 4, dy: 4 }) : null, shape('title'))
    made.children[1].textContent = name
    if (inner && node.summed.length) made.children[2].textContent = `Σ ${node.summed.join('')}`
    made.querySelector('title').textContent = inner ? node.text : `operand ${name}`
    made.addEventListener('keydown', event => {
      if (event.key === 'm') mark(place)
      else if (event.key === 'Enter' && marked !== null && marked !== place) join(marked, place)
      else if (event.key === 'Escape' && marked !== null) mark(marked)
      else if (event.key === 's' && inner) { focused = place; model.send_msg({ kind: 'swap', place: node.place }) }
      else return
      event.preventDefault()
    })
    made.addEventListener('dblclick', () => inner && model.send_msg({ kind: 'swap', place: node.place }))
    if (place !== '') draggable(made, {
      start: () => made.classList.add('moving'),
      move: (event, dx, dy) => {
        const scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width
        made.setAttribute('transform', `translate(${x + dx * scale} ${y + dy * scale})`)
        over(event)
      },
      end: done => {
        made.classList.remove('moving')
        made.setAttribute('transform', `translate(${x} ${y})`)
        const target = tree.querySelector('.target')
        target?.classList.remove('target')
        if (done && target) join(place, target.dataset.place)
      },
    })
    return made
  }

  /** Mark the node that is dragged over. */
  function over(event) {
    tree.querySelector('.target')?.classList.remove('target')
    for (const node of tree.querySelectorAll('.node:not(.moving)')) {
      const box = node.getBoundingClientRect()
      if (event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom) node.classList.add('target')
    }
  }

  function mark(place) {
    marked = marked === place ? null : place
    for (const node of tree.querySelectorAll('.node')) node.classList.toggle('marked', node.dataset.place === marked)
  }

  const numbers = place => place === '' ? [] : place.split('.').map(Number)

  function join(moved, beside) {
    marked = null
    model.send_msg({ kind: 'contract', moved: numbers(moved), beside: numbers(beside) })
  }

  draw()
  model.on('view', draw)
}
