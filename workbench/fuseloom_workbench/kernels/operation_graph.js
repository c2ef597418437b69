/** Operations in columns of their spans, coloured by kernels; what is selected, and what a refusal names, stands out. */
function operationGraph(v, selected, shown, zoom, choose) {
  const made = layoutOperations(v.operations, shown)
  const top = 34, left = 10
  const W = made.width + 2 * left, H = made.height + top + 14
  const refusal = v.refused[selected.refusal]
  const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, width: W * zoom, height: H * zoom, role: 'group', 'aria-label': `${shown.size} operations in ${made.columns.length} layers` })
  const first = made.columns.length * COLUMN * zoom > 0 ? Math.max(1, Math.ceil(30 / (COLUMN * zoom))) : 1
  made.columns.forEach((span, k) => {
    const x = left + k * COLUMN
    if (v.walls.includes(span)) svg.append(shape('rect', { class: 'wall', x: x - 8, y: top - 10, width: NODE + 16, height: H - top + 4 }, shape('title', {}, `layer ${span} has a call of a library, a loop or branch, or what is not known: a wall where nothing is taken in from such layers`)))
    if (k % first === 0) svg.append(shape('text', { class: 'tick', x: x + NODE / 2, y: 14, 'text-anchor': 'middle' }, `${k ? '' : 'span '}${span}`))
  })
  const reader = refusal ? v.operations.findIndex(one => one.name === refusal.reader) : -1
  const given = refusal ? v.operations.findIndex(one => one.name === refusal.operation) : -1
  const now = v.operations.findIndex(one => one.name === selected.operation)
  const chosen = v.kernels.findIndex(kernel => kernel.name === selected.kernel)
  for (const [from, to] of made.edges) {
    const a = made.at.get(from), b = made.at.get(to)
    const x1 = left + a.x + NODE, y1 = top + a.y + TALL / 2, x2 = left + b.x, y2 = top + b.y + TALL / 2
    const lit = from === now || to === now ? ' lit' : from === given && to === reader ? ' refused' : v.operations[from].kernel !== v.operations[to].kernel ? ' across' : ''
    const bend = Math.min(60, (x2 - x1) / 2)
    svg.append(shape('path', { class: `edge${lit}`, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` }))
  }
  const entry = shown.has(now) ? now : [...shown].find(n => v.operations[n].kernel === chosen) ?? [...shown][0]
  for (const n of shown) {
    const one = v.operations[n], { x, y } = made.at.get(n)
    const kernel = v.kernels[one.kernel]
    const kind = ['node', kernel ? `k${kernel.colour}` : 'none', one.root ? 'root' : '', one.value ? 'value' : '', one.light ? 'light' : '', one.kernel === chosen && chosen >= 0 ? 'own' : '', n === now ? 'chosen' : '', n === given ? 'refused' : '', n === reader ? 'reader' : ''].filter(Boolean).join(' ')
    const where = kernel ? `kernel ${one.kernel + 1}${kernel.call ? ', a call' : ''}` : 'in no kernel'
    svg.append(shape('g', { class: kind, 'data-at': n, tabindex: n === entry ? 0 : -1, role: 'button', 'aria-pressed': String(n === now), 'aria-label': `${one.name}, ${one.opcode} ${one.shape}, ${where}${n === reader ? ', in the way' : ''}${n === given ? ', not fused' : ''}`, transform: `translate(${left + x} ${top + y})` },
      shape('title', {}, `${one.name} = ${one.shape} ${one.opcode}; ${where}`),
      shape('rect', { class: 'box', width: NODE, height: TALL, rx: one.value ? 11 : 4 }),
      shape('text', { x: 7, y: 15.5 }, ending(one.name, 15)),
      kernel && !one.value ? shape('text', { class: 'number', x: NODE - 3, y: -2, 'text-anchor': 'end' }, one.root && n !== reader && n !== given ? `${one.kernel + 1}` : '') : null,
      n === reader ? shape('text', { class: 'said', x: 0, y: -3 }, n === given ? 'in the way itself' : 'in the way') : n === given ? shape('text', { class: 'said', x: 0, y: -3 }, 'not fused') : null))
  }
  svg.addEventListener('click', event => {
    const node = event.target.closest('.node')
    if (node) choose(v.operations[Number(node.dataset.at)].name)
  })
  roving(svg, (key, n) => {
    const here = made.at.get(n)
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const ways = made.edges.filter(edge => edge[key === 'ArrowLeft' ? 1 : 0] === n).map(edge => edge[key === 'ArrowLeft' ? 0 : 1])
      return ways.length ? nearest(ways, 0, to => Math.abs(made.at.get(to).x - here.x) * 10 + Math.abs(made.at.get(to).y - here.y)) : null
    }
    const same = [...shown].filter(to => made.at.get(to).x === here.x).sort((a, b) => made.at.get(a).y - made.at.get(b).y)
    return same[same.indexOf(n) + (key === 'ArrowUp' ? -1 : 1)]
  })
  return svg
}

const MOST_DRAWN = 1200

/** Of too many operations those of the layers nearest to what is selected. */
function nearestOperations(v, selected, shown) {
  if (shown.size <= MOST_DRAWN) return shown
  const one = v.operations.find(other => other.name === selected.operation) ?? v.operations.find(other => other.name === selected.kernel)
  const from = one?.span ?? 0
  const order = [...shown].sort((a, b) => Math.abs(v.operations[a].span - from) - Math.abs(v.operations[b].span - from))
  return new Set(order.slice(0, MOST_DRAWN).sort((a, b) => a - b))
}

/** The operations to show: of a frame or of a kernel and its neighbours, light ones and values only if they are wanted. */
function shownOperations(v, selected, { whole, light, values }) {
  const chosen = v.kernels.findIndex(kernel => kernel.name === selected.kernel)
  const refusal = v.refused[selected.refusal]
  const named = new Set(refusal ? [refusal.operation, refusal.reader, refusal.root] : [])
  const shown = new Set()
  const wanted = one => (light || !one.light || one.wall) && (values || !one.value)
  v.operations.forEach((one, n) => {
    if (whole || one.kernel === chosen) { if (wanted(one) || one.kernel >= 0 && one.root) shown.add(n) }
    if (one.name === selected.operation || named.has(one.name)) shown.add(n)
  })
  if (!whole) {
    const reads = shownOperands(v.operations, new Set(v.operations.flatMap((one, n) => wanted(one) ? [n] : [])))
    v.operations.forEach((one, n) => {
      if (one.kernel === chosen) { for (const from of reads(n)) shown.add(from) } else if (wanted(one) && [...reads(n)].some(from => v.operations[from].kernel === chosen)) shown.add(n)
    })
  }
  return shown
}
