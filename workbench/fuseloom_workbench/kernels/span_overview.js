/** All kernels of a frame over its layers: a bar from the deepest operation to the root, calls of libraries as walls. */
function spanOverview(v, selected, room, choose) {
  const BAR = 18, STEP = 25, top = 22, left = 8
  const most = v.layers - 1
  const unit = Math.max(3.5, Math.min(64, (room - 2 * left - 24) / v.layers))
  const x = span => left + (most - span) * unit
  const wide = kernel => Math.max(kernel.call ? 9 : 14, (kernel.span[1] - kernel.span[0] + 1) * unit - 3)
  const rows = []  // of each the place where its last bar ends
  const order = v.kernels.map((_, n) => n).sort((a, b) => v.kernels[b].span[1] - v.kernels[a].span[1] || a - b)
  const row = new Map()
  for (const n of order) {
    const from = x(v.kernels[n].span[1])
    let at = rows.findIndex(end => end <= from)
    if (at < 0) at = rows.push(0) - 1
    rows[at] = from + wide(v.kernels[n]) + 4
    row.set(n, at)
  }
  const W = Math.max(...rows, left + v.layers * unit) + left, H = top + rows.length * STEP + 16
  const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: 'group', 'aria-label': `Kernels over ${v.layers} layers` })
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(one => one * unit >= 34) ?? 1000
  for (let span = 0; span <= most; span += step) svg.append(shape('line', { class: 'grid', x1: x(span) + unit / 2, x2: x(span) + unit / 2, y1: top - 4, y2: H - 14 }), shape('text', { class: 'tick', x: x(span) + unit / 2, y: 12, 'text-anchor': 'middle' }, span))
  for (const span of v.walls) svg.append(shape('rect', { class: 'wall', x: x(span), y: top - 4, width: Math.max(1.5, unit - 3), height: H - top - 10 }, shape('title', {}, `layer ${span} has a call of a library, a loop or branch, or what is not known`)))
  const middle = n => ({ x: x(v.kernels[n].span[1]) + wide(v.kernels[n]) / 2, y: top + row.get(n) * STEP + BAR / 2 })
  const chosen = v.kernels.findIndex(kernel => kernel.name === selected.kernel)
  if (chosen >= 0) {
    const lines = [...v.kernels[chosen].reads.map(from => [from, chosen]), ...v.kernels.flatMap((kernel, n) => kernel.reads.includes(chosen) ? [[chosen, n]] : [])]
    for (const [from, to] of lines) {
      const a = { x: x(v.kernels[from].span[1]) + wide(v.kernels[from]), y: middle(from).y }, b = { x: x(v.kernels[to].span[1]), y: middle(to).y }
      svg.append(shape('path', { class: to === chosen ? 'comes' : 'goes', d: `M${a.x} ${a.y}C${a.x + 18} ${a.y} ${b.x - 18} ${b.y} ${b.x} ${b.y}` }))
    }
  }
  v.kernels.forEach((kernel, n) => {
    const w = wide(kernel), y = top + row.get(n) * STEP, from = x(kernel.span[1])
    const most = Math.floor((w - 8) / 6.4), short = `${n + 1}`
    const text = most > short.length + 6 ? `${short} ${ending(kernel.name, most - short.length - 1)}` : short
    svg.append(shape('g', { class: `bar ${kernel.call ? 'call' : ''} k${kernel.colour} ${n === chosen ? 'chosen' : ''}`, 'data-at': n, tabindex: n === Math.max(chosen, 0) ? 0 : -1, role: 'button', 'aria-pressed': String(n === chosen), 'aria-label': `Kernel ${n + 1}, ${kernel.name}${kernel.call ? ', a call of a library' : `, ${kernel.count} operations`}` },
      shape('title', {}, `${n + 1} ${kernel.name}: ${kernel.reason}; ${kernel.count} operation${kernel.count > 1 ? 's' : ''}`),
      shape('rect', { class: 'target', x: from - 2, y: y - 3, width: w + 4, height: STEP - 1 }), shape('rect', { class: 'box', x: from, y, width: w, height: BAR, rx: kernel.call ? 0 : 4 }),
      most >= short.length ? shape('text', { x: from + 5, y: y + 13 }, text) : null))
  })
  svg.append(shape('text', { class: 'tick', x: W - left, y: H - 3, 'text-anchor': 'end' }, 'span: operations between a layer and the result →'))
  svg.addEventListener('click', event => {
    const bar = event.target.closest('.bar')
    if (bar) choose(v.kernels[Number(bar.dataset.at)].name)
  })
  const place = new Map(order.map((n, k) => [n, k]))
  roving(svg, (key, n) => key === 'ArrowLeft' || key === 'ArrowUp' ? order[place.get(n) - 1] : order[place.get(n) + 1])
  return svg
}
