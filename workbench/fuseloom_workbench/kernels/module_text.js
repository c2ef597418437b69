/** The HLO text of the module: written, dropped or opened here; a fault is underlined at its place. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const area = h('textarea', { spellcheck: 'false', wrap: 'off', rows: 14, 'aria-label': 'HLO text' })
  const { mark, place, underline } = markedText(area)
  const file = h('input', { type: 'file', class: 'hidden', tabindex: -1, 'aria-hidden': 'true', on: { change: () => { if (file.files[0]) take(file.files[0]); file.value = '' } } })
  const open = h('button', { class: 'button', type: 'button', on: { click: () => file.click() } }, 'Open a file…')
  const use = h('button', { class: 'button primary', type: 'button', on: { click: send } }, 'Fuse this text')
  const reset = h('button', { class: 'button', type: 'button', on: { click: () => { area.value = model.view.text; edited() } } }, 'Discard edits')
  const status = statusLine()
  const drop = h('div', { class: 'drop', role: 'group', 'aria-label': 'Module' },
    h('div', { class: 'head' }, h('b', {}, 'HLO text'), h('span', { class: 'quiet' }, 'as JAX prints it: jax.jit(f).lower(x).compiler_ir("hlo").as_hlo_text(); a file can be dropped here')),
    h('div', { class: 'editor' }, h('div', { class: 'paper' }, mark, area)),
    h('div', { class: 'row' }, use, reset, open, file, h('span', { class: 'quiet' }, 'Ctrl+Enter fuses it')), status)
  el.append(drop)
  let base = null  // the text as it is fused
  let number = 0
  let timer = 0
  let at = null  // the place of the fault that is underlined
  let taken = null  // the text that was sent to be fused

  for (const kind of ['dragenter', 'dragover']) drop.addEventListener(kind, event => { event.preventDefault(); drop.classList.add('over') })
  for (const kind of ['dragleave', 'drop']) drop.addEventListener(kind, () => drop.classList.remove('over'))
  drop.addEventListener('drop', event => {
    event.preventDefault()
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0])
  })

  const count = n => n.toLocaleString('en')
  const tooLong = length => length > model.view.most && `the text has ${count(length)} characters, and a page takes ${count(model.view.most)}. Fuseloom stitch FILE takes more.`

  async function take(chosen) {
    const refused = chosen.size > 4 * model.view.most && tooLong(chosen.size)  // a character has at most 4 bytes
    if (refused) { status.show({ ok: false, message: `${chosen.name}: ${refused}` }); return }
    area.value = await chosen.text()
    send()
  }

  function send() {
    const refused = tooLong(area.value.length)
    if (refused) { status.show({ ok: false, message: refused }); return }
    clearTimeout(timer)
    taken = area.value
    status.show({ ok: true, message: 'reading …' })
    model.send_msg({ kind: 'change', changes: { text: taken } })
  }

  function edited() {
    clearTimeout(timer)
    tell(null)
    number += 1
    const same = area.value === model.view.text
    use.disabled = reset.disabled = same
    const refused = tooLong(area.value.length)
    if (refused) status.show({ ok: false, message: refused })
    else if (!same) timer = setTimeout(() => model.send_msg({ kind: 'write', number, text: area.value }), 400)
  }

  /** Show a fault at its place, or that there is none. */
  function tell(error, good = '') {
    at = error?.line ? error : null
    area.setAttribute('aria-invalid', String(!!error))
    underline(error?.line ?? 0, error?.column ?? 0, from => Math.max(1, area.value.slice(from).match(/^[^\n]*/)[0].length))
    const where = at ? `line ${count(at.line)}, column ${count(at.column)}: ` : ''
    status.show(error ? { ok: false, message: `${where}${error.message}${error.hint ? `. ${error.hint[0].toUpperCase()}${error.hint.slice(1)}.` : ''}` } : { ok: true, message: good })
  }

  function show() {
    if (!at) return
    const from = place(at.line, at.column)
    area.focus()
    area.setSelectionRange(from, from + Math.max(1, area.value.slice(from).match(/^[^\n]*/)[0].length))
    area.scrollTop = Math.max(0, (at.line - 4) * 19.5)
  }

  area.addEventListener('input', edited)
  area.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); if (!use.disabled) send() }
  })
  status.addEventListener('click', show)

  function draw() {
    const v = model.view
    if (!v.text) return
    if (v.text !== base) {
      const edits = base !== null && area.value !== base && area.value !== taken && area.value !== v.text
      base = v.text
      if (!edits) { area.value = v.text; tell(null) }
    }
    use.disabled = reset.disabled = area.value === v.text
    if (v.fault && area.value === v.text) {
      if (at?.message !== v.fault.message || at.line !== v.fault.line) { tell(v.fault); area.scrollTop = Math.max(0, (v.fault.line - 4) * 19.5) }
    } else if (v.written?.number === number && area.value !== v.text) tell(v.written.error, 'It reads well.')
  }

  draw()
  model.on('view', draw)
}
