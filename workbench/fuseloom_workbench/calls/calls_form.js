/** Which composition, on which extents, in tiles of which size, on how many threads. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const change = changes => model.send_msg({ kind: 'change', changes })
  const number = text => text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
  const pipeline = h('select', { 'aria-label': 'Composition', on: { change: () => change({ pipeline: pipeline.value }) } })
  const extents = h('input', { type: 'text', spellcheck: 'false', on: { change: () => change({ extents: extents.value }) } })
  const slider = h('input', { type: 'range', min: 0, max: 17, step: 1, 'aria-label': 'Size of tiles, powers of two', on: { input: () => { tile.value = String(2 ** Number(slider.value)) }, change: () => change({ tile: 2 ** Number(slider.value) }) } })
  const tile = h('input', { type: 'text', size: 8, 'aria-label': 'Size of tiles', on: { change: () => change({ tile: number(tile.value) }) } })
  const threads = h('input', { type: 'text', size: 3, on: { change: () => change({ threads: number(threads.value) }) } })
  const undo = h('button', { class: 'button', type: 'button', title: 'Take the last change back (Ctrl+Z)', on: { click: () => model.send_msg({ kind: 'undo' }) } }, 'Undo')
  const cancel = h('button', { class: 'button', type: 'button', on: { click: () => model.send_msg({ kind: 'cancel' }) } }, 'Cancel')
  const link = h('a', { class: 'link', title: 'An address that opens this again, without edited annotations' }, 'Link')
  const bar = h('progress', { max: 1, 'aria-label': 'Progress' })
  const doing = h('span', { class: 'quiet' })
  const status = statusLine()
  const label = (text, part, wide = false) => h('label', { class: wide ? 'field wide' : 'field' }, h('span', {}, text), part)
  el.append(h('div', { class: 'line' }, label('composition', pipeline), label('extents', extents, true), h('div', { class: 'field' }, h('span', {}, 'rows, or elements, of a tile'), h('span', { class: 'power' }, slider, tile)), label('threads', threads), h('div', { class: 'does' }, undo, link)),
    h('div', { class: 'line state' }, bar, doing, cancel, status))
  el.addEventListener('keydown', event => {
    if (event.key === 'z' && (event.ctrlKey || event.metaKey) && event.target.tagName !== 'INPUT') {
      model.send_msg({ kind: 'undo' })
      event.preventDefault()
    }
  })
  const sentValues = {}

  function put(input, key, value) {
    if (sentValues[key] !== value) input.value = String(value)
    sentValues[key] = value
  }

  function draw() {
    if (!there(model)) return
    const v = model.view
    if (pipeline.options.length !== v.pipelines.length) pipeline.replaceChildren(...v.pipelines.map(p => h('option', { value: p.name }, `${p.name}: ${p.text}`)))
    pipeline.value = v.asked.pipeline
    put(extents, 'extents', v.asked.extents)
    put(tile, 'tile', v.asked.tile)
    put(threads, 'threads', v.asked.threads)
    slider.value = Math.round(Math.log2(v.asked.tile))
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
