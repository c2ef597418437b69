/** Text with line numbers; an error marks its line and puts the caret there. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const name = model.view.title
  const WRITES = /^\s*([A-Za-z_][\w']*)\s*(?:\[[^\]]*\])?\s*=/  // the tensor that a line of a program computes
  const KEY = `fuseloom:live ${name}`
  const numbers = h('div', { class: 'numbers', 'aria-hidden': 'true' })
  const area = h('textarea', { spellcheck: 'false', wrap: 'off', 'aria-label': `${name} text`, 'aria-describedby': 'answer' })
  const { mark, place, underline } = markedText(area)
  const apply = h('button', { class: 'button primary', on: { click: send } }, 'Apply')
  const reset = h('button', { class: 'button', on: { click: () => { area.value = model.view.text; edited() } } }, 'Discard edits')
  const live = h('input', { type: 'checkbox', on: { change: () => { try { localStorage.setItem(KEY, live.checked) } catch { /* forbidden, or full */ } if (live.checked) later() } } })
  try { live.checked = localStorage.getItem(KEY) === 'true' } catch { /* forbidden */ }
  const status = statusLine()
  status.id = 'answer'
  el.append(h('p', { class: 'help' }, model.view.help), h('div', { class: 'editor' }, numbers, h('div', { class: 'paper' }, mark, area)),
    h('div', { class: 'row' }, apply, reset, h('label', { class: 'live', title: 'What has no errors is taken over when nobody types for a moment' }, live, ' Live'), h('span', { class: 'quiet' }, 'Ctrl+Enter applies')), status)
  const tell = lights(numbers)
  numbers.addEventListener('click', event => {
    const name = event.target.dataset.statement
    if (name) model.send_msg({ kind: 'kernel', number: model.view.kernels[name] })
  })
  area.addEventListener('pointermove', event => {
    const { lineHeight, paddingTop } = getComputedStyle(area)
    const line = Math.floor((event.offsetY + area.scrollTop - parseFloat(paddingTop)) / parseFloat(lineHeight))
    tell(numbers.children[line]?.dataset.statement ?? '')
  })
  area.addEventListener('pointerleave', () => tell(''))
  let wrong = 0, timer = 0, number = 0
  let taken = null  // the text that was taken over as it is written, until it is left: then it stands as it prints

  function send() {
    taken = area.value
    model.send_msg({ kind: 'apply', text: area.value })
  }

  const written = () => live.checked && area.getRootNode().activeElement === area && taken !== null
  const settled = () => area.value === model.view.text || area.value === taken

  function count() {
    const names = area.value.split('\n').map(line => line.match(WRITES)?.[1] ?? '')
    numbers.replaceChildren(...names.map((name, k) => {
      const own = name in (model.view.kernels ?? {})
      return h('div', { class: k + 1 === wrong ? 'wrong' : null, 'data-statement': own ? name : null, title: own ? `Select the kernel of ${name}` : null }, k + 1 === wrong ? `✕ ${k + 1}` : String(k + 1))
    }))
    area.rows = Math.min(30, Math.max(8, names.length + 1))
    numbers.scrollTop = area.scrollTop
  }

  /** Ask what is wrong with the text as it is, when nobody types for a moment. */
  function later() {
    clearTimeout(timer)
    number += 1
    timer = setTimeout(() => { if (!settled()) model.send_msg({ kind: 'check', text: area.value, number }) }, 300)
  }

  function edited() {
    wrong = 0
    underline(0)
    area.removeAttribute('aria-invalid')
    const same = settled()
    apply.disabled = reset.disabled = same
    count()
  }

  area.addEventListener('input', () => { edited(); status.show(null); later() })
  area.addEventListener('scroll', () => { numbers.scrollTop = area.scrollTop })
  model.on('checked', () => {
    const { ok, message, line, column, number: of } = model.checked
    if (of !== number || settled()) return
    if (ok && live.checked) { send(); return }
    status.show(ok ? { ok, message: 'No errors so far; Apply takes it over.' } : { ok, message })
    wrong = ok ? 0 : line || 0
    area.setAttribute('aria-invalid', String(!ok))
    underline(ok ? 0 : line, column)
    count()
  })
  area.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send() }
  })
  function show() {
    number += 1
    clearTimeout(timer)
    taken = null
    area.value = model.view.text
    status.show(null)
    edited()
  }

  model.on('view', () => { if (!written()) show() })
  area.addEventListener('blur', () => { if (taken !== null && area.value === taken && !wrong) show() })
  model.on('answer', () => {
    const { ok, message, line, column } = model.answer
    status.show({ ok, message })
    if (!ok) taken = null
    wrong = ok ? 0 : line
    area.setAttribute('aria-invalid', String(!ok))
    count()
    if (!ok && line) {
      underline(line, column)
      const at = place(line, column)
      area.focus()
      area.setSelectionRange(at, at + 1)
    }
    if (ok) edited()
  })
  area.value = model.view.text
  edited()
}
