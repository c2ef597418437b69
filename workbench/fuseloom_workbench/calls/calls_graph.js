/** Calls as a graph: data that are given on the left, one call after another, what passes between them as arcs. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const box = h('div', { class: 'wrap', tabindex: 0, role: 'group', 'aria-label': 'Calls' })
  const legend = h('div', { class: 'legend' }, ...['straight', 'merge', 'fork'].map(kind => h('span', {}, h('span', { class: `swatch ${kind}` }), { straight: 'read by one call', merge: 'read with others', fork: 'read by several' }[kind])))
  el.append(h('div', { class: 'head' }, h('b', {}, 'Calls')), box, legend)

  function draw() {
    const v = model.view
    if (!v.calls) return
    const H = 34, left = 118
    const far = Math.max(0, ...v.connections.flatMap(one => one.consumers.map(to => to - one.producer)))
    const W = left + 200 + .75 * (22 + 13 * far) + 8
    const y = n => 16 + n * H
    const svg = shape('svg', { viewBox: `0 0 ${W} ${y(v.calls.length - 1) + 24}`, width: W, height: y(v.calls.length - 1) + 24, role: 'img', 'aria-label': v.calls.map(c => `${c.output} = ${c.name}(${c.inputs.join(', ')})`).join('; ') })
    const at = Object.fromEntries(v.calls.map((call, n) => [call.output, n]))
    for (const one of v.connections) one.consumers.forEach(to => {
      const from = one.producer, apart = to - from
      const x = left + 190
      svg.append(shape('path', { class: `arc ${one.kind}`, d: apart === 1 ? `M${left + 40} ${y(from) + 13}V${y(to) - 13}` : `M${x} ${y(from)}C${x + 22 + 13 * apart} ${y(from)} ${x + 22 + 13 * apart} ${y(to)} ${x} ${y(to)}` }))
    })
    v.calls.forEach((call, n) => {
      const given = call.inputs.filter(name => !(name in at))
      if (given.length) svg.append(shape('text', { x: left - 26, y: y(n) + 4, 'text-anchor': 'end', class: 'given' }, given.join(', ')), shape('path', { class: 'arc given', d: `M${left - 22} ${y(n)}H${left - 2}` }))
      const last = n === v.calls.length - 1
      svg.append(shape('rect', { x: left, y: y(n) - 13, width: 190, height: 26, rx: 6, class: last ? 'call last' : 'call' }), shape('text', { x: left + 10, y: y(n) + 4 }, `${n}  ${call.name}`), shape('text', { x: left + 182, y: y(n) + 4, 'text-anchor': 'end', class: 'out' }, call.output))
    })
    box.replaceChildren(svg, ...(v.unused.length ? [h('p', { class: 'quiet' }, `not needed, and left out: ${v.unused.join(', ')}`)] : []))
  }

  draw()
  model.on('view', draw)
}
