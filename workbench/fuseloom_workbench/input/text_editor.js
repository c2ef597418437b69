/** Text with line numbers; an error marks its line and puts the caret there. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const name = model.view.title
  const numbers = h('div', { class: 'numbers', 'aria-hidden': 'true' })
  const area = h('textarea', { spellcheck: 'false', wrap: 'off', 'aria-label': `${name} text`, 'aria-describedby': 'answer' })
  const mark = h('div', { class: 'mark', 'aria-hidden': 'true' })
  const apply = h('button', { class: 'button primary', on: { click: send } }, 'Apply')
  const reset = h('button', { class: 'button', on: { click: () => { area.value = model.view.text; edited() } } }, 'Discard edits')
  const status = statusLine()
  status.id = 'answer'
  el.append(h('p', { class: 'help' }, model.view.help), h('div', { class: 'editor' }, numbers, h('div', { class: 'paper' }, mark, area)),
    h('div', { class: 'row' }, apply, reset, h('span', { class: 'quiet' }, 'Ctrl+Enter applies')), status)
  let wrong = 0, timer = 0, number = 0

  function send() {
    model.send_msg({ kind: 'apply', text: area.value })
  }

  /** Underline the word at a place; what is before it is there, unseen, to take its room. */
  function underline(line, column) {
    mark.replaceChildren()
    if (!line) return
    const at = place(line, column)
    const word = (area.value.slice(at).match(/^([\w'.]+|[^\n])/) || [' '])[0]
    mark.append(area.value.slice(0, at), h('u', { title: `line ${line}, column ${column}` }, word))
  }

  function count() {
    const lines = area.value.split('\n').length
    numbers.replaceChildren(...Array.from({ length: lines }, (_, k) =>
      h('div', { class: k + 1 === wrong ? 'wrong' : null }, k + 1 === wrong ? `✕ ${k + 1}` : String(k + 1))))
    area.rows = Math.min(30, Math.max(8, lines + 1))
    numbers.scrollTop = area.scrollTop
  }

  /** Ask what is wrong with the text as it is, when nobody types for a moment. */
  function later() {
    clearTimeout(timer)
    number += 1
    timer = setTimeout(() => { if (area.value !== model.view.text) model.send_msg({ kind: 'check', text: area.value, number }) }, 300)
  }

  function place(line, column) {
    return area.value.split('\n').slice(0, line - 1).reduce((n, text) => n + text.length + 1, 0) + column - 1
  }

  function edited() {
    wrong = 0
    mark.replaceChildren()
    area.removeAttribute('aria-invalid')
    const same = area.value === model.view.text
    apply.disabled = reset.disabled = same
    count()
  }

  area.addEventListener('input', () => { edited(); status.show(null); later() })
  area.addEventListener('scroll', () => { numbers.scrollTop = area.scrollTop; mark.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)` })
  model.on('checked', () => {
    const { ok, message, line, column, number: of } = model.checked
    if (of !== number || area.value === model.view.text) return
    status.show(ok ? { ok, message: 'No errors so far; Apply takes it over.' } : { ok, message })
    wrong = ok ? 0 : line || 0
    area.setAttribute('aria-invalid', String(!ok))
    underline(ok ? 0 : line, column)
    count()
  })
  area.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send() }
  })
  model.on('view', () => { number += 1; clearTimeout(timer); area.value = model.view.text; status.show(null); edited() })
  model.on('answer', () => {
    const { ok, message, line, column } = model.answer
    status.show({ ok, message })
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
