/** Layers of a frame twice: its kernels over all layers, and below the operations of one kernel, or of all. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const MANY = 70  // operations that are drawn at once before anybody asks for all
  const send = message => model.send_msg(message)
  const kernel = h('select', { 'aria-label': 'Kernel', on: { change: () => send({ kind: 'kernel', name: kernel.value }) } })
  const scope = h('select', { 'aria-label': 'Operations', on: { change: () => { chosenScope = true; draw() } } }, h('option', { value: 'frame' }, 'of the whole frame'), h('option', { value: 'kernel' }, 'of the kernel and its neighbours'))
  const light = h('input', { type: 'checkbox', on: { change: () => { chosenLight = true; draw() } } })
  const values = h('input', { type: 'checkbox', on: { change: () => draw() } })
  const button = (text, label, f) => h('button', { type: 'button', class: 'button', 'aria-label': label, title: label, on: { click: f } }, text)
  const zooms = h('span', { class: 'zoom' }, button('−', 'Smaller', () => { zoom = Math.max(.3, zoom / 1.25); draw() }), button('+', 'Larger', () => { zoom = Math.min(2, zoom * 1.25); draw() }), button('Fit', 'Fit into the width', fit))
  const overview = h('div', { class: 'wrap overview' })
  const graph = h('div', { class: 'wrap graph' })
  const cut = h('p', { class: 'cut', hidden: true })
  const side = h('div', { class: 'side', tabindex: 0, role: 'group', 'aria-label': 'Details' })
  const key = (kind, text) => h('span', {}, h('span', { class: `swatch ${kind}` }), text)
  el.append(h('div', { class: 'head' }, h('b', {}, 'Layers and kernels'), h('label', { class: 'field' }, 'kernel ', kernel), h('label', { class: 'field' }, 'operations ', scope), h('label', { class: 'flag' }, light, 'light operations'), h('label', { class: 'flag' }, values, 'parameters and constants'), zooms),
    h('div', { class: 'both' }, h('div', { class: 'left' }, overview, cut, graph, h('div', { class: 'legend' }, h('span', {}, 'a colour, and a number at what it writes, for each kernel'), key('wall', 'layer with a call of a library, a loop, or what is not known'), key('reads', 'read by the kernel'), key('written', 'reads it'), h('span', {}, 'dashed lines go from kernel to kernel'))), side))
  let frame = ''
  let zoom = 1
  let width = 0
  let chosenScope = false, chosenLight = false
  let looked = ''

  const settings = () => ({ whole: scope.value === 'frame', light: light.checked, values: values.checked })

  function fit() {
    const svg = graph.firstElementChild
    if (svg) zoom = Math.max(.3, Math.min(1.3, (graph.clientWidth - 4) / svg.viewBox.baseVal.width))
    draw()
  }

  function draw() {
    const v = model.view
    if (!v.operations) return
    const selected = { kernel: '', operation: '', refusal: -1, ...model.selected }
    const now = `${v.name} ${v.operations.length}`
    if (now !== frame) {
      frame = now
      const plain = v.operations.filter(one => !one.light && !one.value).length
      if (!chosenScope || plain > 600) scope.value = plain > MANY ? 'kernel' : 'frame'
      if (!chosenLight) light.checked = v.operations.length <= 30
      zoom = 1
    }
    const names = v.kernels.map((one, n) => `${n + 1} ${one.name}${one.call ? ' (call)' : `, ${one.count} op${one.count > 1 ? 's' : ''}`}`)
    if (kernel.dataset.of !== names.join()) {
      kernel.dataset.of = names.join()
      kernel.replaceChildren(...v.kernels.map((one, n) => h('option', { value: one.name }, names[n])))
    }
    kernel.value = selected.kernel
    const all = shownOperations(v, selected, settings())
    const shown = nearestOperations(v, selected, all)
    cut.hidden = shown.size === all.size
    cut.textContent = `${shown.size.toLocaleString('en')} of ${all.size.toLocaleString('en')} operations are drawn: those of the layers nearest to what is selected.`
    replace(overview, v.kernels.length ? spanOverview(v, selected, width || 900, name => send({ kind: 'kernel', name })) : h('p', { class: 'quiet' }, 'No operation of this frame is a kernel.'))
    replace(graph, shown.size ? operationGraph(v, selected, shown, zoom, name => send({ kind: 'operation', name })) : h('p', { class: 'quiet' }, 'No operations to show.'))
    const focused = side.contains(side.getRootNode().activeElement) ? side.getRootNode().activeElement.textContent : null
    side.replaceChildren(...kernelDetails(v, selected, send))
    if (focused !== null) [...side.querySelectorAll('button')].find(one => one.textContent === focused)?.focus()
    look(selected)
  }

  /** Draw anew, and leave the focus at the place that it had. */
  function replace(box, made) {
    const had = box.getRootNode().activeElement?.dataset?.at
    const inside = had !== undefined && box.contains(box.getRootNode().activeElement)
    box.replaceChildren(made)
    if (!inside) return
    const node = box.querySelector(`[data-at="${had}"]`)
    box.querySelectorAll('[data-at][tabindex="0"]').forEach(one => one.setAttribute('tabindex', -1))
    node?.setAttribute('tabindex', 0)
    node?.focus({ preventScroll: true })
  }

  /** Scroll to what was selected last. */
  function look(selected) {
    const now = `${frame} ${scope.value} ${selected.kernel} ${selected.operation} ${selected.refusal}`
    if (now === looked) return
    looked = now
    const node = graph.querySelector('.node.refused, .node.reader') ?? graph.querySelector('.node.chosen') ?? graph.querySelector('.node.own.root')
    for (const [box, one] of [[graph, node], [overview, overview.querySelector('.bar.chosen')]]) {
      if (!one) continue
      const a = box.getBoundingClientRect(), b = one.getBoundingClientRect()
      if (b.left < a.left || b.right > a.right) box.scrollLeft += b.left - a.left - a.width / 2
      if (b.top < a.top || b.bottom > a.bottom) box.scrollTop += b.top - a.top - a.height / 2
    }
  }

  new ResizeObserver(() => {
    if (Math.abs(overview.clientWidth - width) < 3) return
    width = overview.clientWidth
    draw()
  }).observe(overview)
  draw()
  model.on('view', draw)
  model.on('selected', draw)
}
