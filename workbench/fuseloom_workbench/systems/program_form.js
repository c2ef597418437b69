/** Which program, on which random data; its text to edit; the comparison to begin and to end. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const number = text => /^\d{1,12}$/.test(text.trim()) ? Number(text) : text
  const program = h('select', { 'aria-label': 'Program', on: { change: () => { if (program.value) change({ name: program.value }) } } })
  const seed = h('input', { type: 'text', inputmode: 'numeric', size: 7, on: { change: () => change({ seed: number(seed.value) }, true) } })
  const compare = h('button', { class: 'button primary', type: 'button', title: 'Ctrl+Enter; what is known from before is shown at once', on: { click: () => send(false) } }, 'Compare')
  const again = h('button', { class: 'button', type: 'button', title: 'Fuse, simulate and measure again, too, what is known from before', on: { click: () => send(true) } }, 'Compare again')
  const undo = h('button', { class: 'button', type: 'button', title: 'Take the last change back (Ctrl+Z outside of the text)', on: { click: () => { switching = true; model.send_msg({ kind: 'undo' }) } } }, 'Undo')
  const reset = h('button', { class: 'button', type: 'button', on: { click: () => { area.value = model.view.text; edited() } } }, 'Discard edits')
  const cancel = h('button', { class: 'button', type: 'button', on: { click: () => model.send_msg({ kind: 'cancel' }) } }, 'Cancel')
  const link = h('a', { class: 'link', title: 'An address that opens this again' }, 'Link')
  const bar = h('progress', { max: 1, 'aria-label': 'Progress' })
  const doing = h('span', { class: 'quiet', role: 'status' })
  const status = statusLine()
  const area = h('textarea', { spellcheck: 'false', wrap: 'off', rows: 13, 'aria-label': 'Text of the program' })
  const { mark, underline } = markedText(area)
  const label = (text, part) => h('label', { class: 'field' }, h('span', {}, text), part)
  const came = h('p', { class: 'quiet', hidden: true })
  el.append(h('div', { class: 'line' }, label('program', program), label('seed of random data', seed)),
    h('div', { class: 'editor' }, h('div', { class: 'paper' }, mark, area)),
    h('div', { class: 'row' }, compare, again, reset, undo, link), came,
    h('div', { class: 'line state' }, bar, doing, cancel, status))
  let base = null       // the text as it is shown elsewhere
  let taken = null      // the text that was sent to be compared
  let turn = 0, timer = 0
  let switching = false // another program was chosen: its text takes the place of edits, which undo brings back
  let told = ''
  let opened = null     // how many files have been: the next one takes the place of all, and undo brings edits back
  const put = {}

  const draft = () => area.value !== (base ?? '') && area.value.trim() ? area.value : null

  function change(changes, keeps = false) {
    if (!keeps) switching = true
    model.send_msg({ kind: 'change', changes, draft: keeps ? null : draft() })
  }

  function send(over) {
    if (compare.disabled) return
    clearTimeout(timer)
    const changes = { seed: number(seed.value) }
    if (draft() !== null) changes.text = taken = area.value
    model.send_msg({ kind: 'compare', changes, again: over })
  }

  function edited() {
    clearTimeout(timer)
    switching = false
    turn += 1
    underline(0)
    area.removeAttribute('aria-invalid')
    reset.disabled = area.value === model.view.text
    if (area.value.length > model.view.most || area.value !== model.view.text) timer = setTimeout(() => model.send_msg({ kind: 'write', number: turn, text: area.value }), 400)
    else status.show({ ok: true, message: '' })
  }

  /** Underline a fault at its place. */
  function show(fault) {
    area.setAttribute('aria-invalid', 'true')
    underline(fault.line ?? 0, fault.column ?? 0)
  }

  const said = fault => `${fault.line ? `line ${fault.line}, column ${fault.column}: ` : ''}${fault.message}${fault.hint ? `. ${fault.hint[0].toUpperCase()}${fault.hint.slice(1)}${fault.hint.endsWith('?') ? '' : '.'}` : ''}`

  area.addEventListener('input', edited)
  el.addEventListener('keydown', event => {
    if (!(event.ctrlKey || event.metaKey)) return
    if (event.key === 'Enter') { event.preventDefault(); send(false) }
    if (event.key === 'z' && !['INPUT', 'TEXTAREA'].includes(event.target.tagName)) { event.preventDefault(); undo.click() }
  })

  function write(input, key, value) {
    if (put[key] !== value) input.value = String(value)
    put[key] = value
  }

  function draw() {
    if (!there(model)) return
    const v = model.view
    if (opened !== null && v.opened.number > opened) change({ text: v.opened.text, data: '', sizes: [], schedule: null })
    opened = v.opened.number
    const options = [v.asked.own ? h('option', { value: '' }, 'a text of your own') : null, h('optgroup', { label: 'Examples, in reach of several systems' }, v.examples.map(one => h('option', { value: one.name }, `${one.name}: ${one.text}`))), h('optgroup', { label: 'Ready-made models' }, v.models.map(name => h('option', { value: name }, name)))].filter(Boolean)
    const names = `${v.asked.own}`
    if (program.dataset.of !== names) { program.dataset.of = names; program.replaceChildren(...options) }
    program.value = v.asked.own ? '' : v.asked.name
    write(seed, 'seed', v.asked.seed)
    undo.disabled = !v.undo
    came.hidden = !v.carried && !v.unfit
    came.textContent = v.carried ? `The schedule from the explorer is the row “${v.carried}” of Dataflow.` : `The schedule from the explorer does not fit this program, and is left out: ${v.unfit}.`
    const busy = !['', 'read'].includes(v.busy.text)
    bar.hidden = doing.hidden = cancel.hidden = !busy
    bar.value = v.busy.share
    doing.textContent = busy ? `${v.busy.text} …` : ''
    compare.disabled = busy
    again.disabled = busy
    link.hidden = !v.link
    link.href = v.link
    if (v.addressed && v.link && put.link !== v.link) { put.link = v.link; history.replaceState(null, '', v.link) }  // a reload shows the same
    if (switching && v.own_text && area.value !== v.own_text) { area.value = v.own_text; switching = false }
    if (!v.text && v.own_text && !area.value) area.value = v.own_text  // an address with a text that is refused
    if (v.text !== base && v.text) {
      const edits = base !== null && area.value !== base && area.value !== taken && area.value !== v.text
      base = v.text
      if (!edits || switching) { area.value = v.text; underline(0); area.removeAttribute('aria-invalid') }
      switching = false
    }
    reset.disabled = area.value === v.text
    if (v.fault && area.value === v.fault.text && told !== JSON.stringify([v.fault, turn])) { told = JSON.stringify([v.fault, turn]); show(v.fault) }
    if (v.written?.number === turn && area.value !== v.text && told !== JSON.stringify(v.written)) {
      told = JSON.stringify(v.written)
      const fault = v.written.error
      if (fault) show(fault)
      status.show(fault ? { ok: false, message: said(fault) } : { ok: true, message: 'It reads well.' })
    }
  }

  draw()
  model.on('view', draw)
  const tell = () => status.show(model.status)
  tell()
  model.on('status', tell)
}
