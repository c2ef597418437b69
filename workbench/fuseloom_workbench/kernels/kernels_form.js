/** Which module, which products and layers are fused, and which frame is looked at. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const change = changes => model.send_msg({ kind: 'change', changes })
  const example = h('select', { 'aria-label': 'Module', on: { change: () => { if (example.value) change({ example: example.value }) } } })
  const frame = h('select', { 'aria-label': 'Frame', on: { change: () => model.send_msg({ kind: 'frame', name: frame.value }) } })
  const products = h('select', { 'aria-label': 'Products that are fused', on: { change: () => change({ products: products.value }) } }, ...Object.entries({ never: 'never', batched: 'batched ones', all: 'all' }).map(([value, text]) => h('option', { value }, text)))
  const layers = h('input', { type: 'checkbox', on: { change: () => change({ call_layers: layers.checked }) } })
  const undo = h('button', { class: 'button', type: 'button', title: 'Take the last change back (Ctrl+Z)', on: { click: () => model.send_msg({ kind: 'undo' }) } }, 'Undo')
  const cancel = h('button', { class: 'button', type: 'button', on: { click: () => model.send_msg({ kind: 'cancel' }) } }, 'Cancel')
  const link = h('a', { class: 'link', title: 'An address that opens this again, without text of your own' }, 'Link')
  const bar = h('progress', { max: 1, 'aria-label': 'Progress' })
  const doing = h('span', { class: 'quiet' })
  const status = statusLine()
  const label = (text, part) => h('label', { class: 'field' }, h('span', {}, text), part)
  el.append(h('div', { class: 'line' }, label('module', example), label('frame', frame), label('matrix products that are fused', products),
    h('div', { class: 'field' }, h('span', {}, 'layers with calls of libraries'), h('label', { class: 'flag', title: 'As in the paper: then only operations of layers without calls are taken in' }, layers, 'take nothing in from them')), h('div', { class: 'does' }, undo, link)),
    h('div', { class: 'line state' }, bar, doing, cancel, status, h('span', { class: 'quiet', title: 'A page of the documentation, in the folder docs of the source: Deep fusion of dense graphs' }, 'described in docs/stitch.md')))
  el.addEventListener('keydown', event => {
    if (event.key === 'z' && (event.ctrlKey || event.metaKey) && event.target.tagName !== 'INPUT') {
      model.send_msg({ kind: 'undo' })
      event.preventDefault()
    }
  })

  function draw() {
    if (!there(model)) return
    const v = model.view
    const own = v.asked.own ? [h('option', { value: '' }, `text of your own: ${v.module || 'not read'}`)] : []
    example.replaceChildren(...own, ...v.examples.map(one => h('option', { value: one.name }, `${one.name}: ${one.text}`)))
    example.value = v.asked.own ? '' : v.asked.example
    frame.replaceChildren(...v.frames.map((one, n) => h('option', { value: one.name }, `${one.name}${n ? '' : ', which is run'}: ${one.count.toLocaleString('en')} operations`)))
    frame.value = v.frame
    frame.disabled = v.frames.length < 2
    products.value = v.asked.products
    layers.checked = v.asked.call_layers
    undo.disabled = !v.undo
    link.href = v.link
    const busy = v.busy.text !== ''
    bar.hidden = doing.hidden = cancel.hidden = !busy
    bar.value = v.busy.share
    doing.textContent = busy ? `${v.busy.text} …` : ''
  }

  draw()
  model.on('view', draw)
  const tell = () => status.show(model.status)
  tell()
  model.on('status', tell)
}
