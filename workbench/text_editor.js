/** Text with line numbers; an error marks its line and puts the caret there. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const name = model.view.title
  const numbers = h('div', { class: 'numbers', 'aria-hidden': 'true' })
  const area = h('textarea', { spellcheck: 'false', wrap: 'off', 'aria-label': `${name} text`, 'aria-describedby': 'answer' })
  const apply = h('button', { class: 'button primary', on: { click: send } }, 'Apply')
  const reset = h('button', { class: 'button', on: { click: () => { area.value = model.view.text; edited() } } }, 'Discard edits')
  const status = statusLine()
  status.id = 'answer'
  el.append(h('p', { class: 'help' }, model.view.help), h('div', { class: 'editor' }, numbers, area),
    h('div', { class: 'row' }, apply, reset, h('span', { class: 'quiet' }, 'Ctrl+Enter applies')), status)
  let wrong = 0

  function send() {
    model.send_msg({ kind: 'apply', text: area.value })
  }

  function count() {
    const lines = area.value.split('\n').length
    numbers.replaceChildren(...Array.from({ length: lines }, (_, k) =>
      h('div', { class: k + 1 === wrong ? 'wrong' : null }, k + 1 === wrong ? `✕ ${k + 1}` : String(k + 1))))
    area.rows = Math.min(30, Math.max(8, lines + 1))
    numbers.scrollTop = area.scrollTop
  }

  function edited() {
    wrong = 0
    area.removeAttribute('aria-invalid')
    const same = area.value === model.view.text
    apply.disabled = reset.disabled = same
    count()
  }

  area.addEventListener('input', edited)
  area.addEventListener('scroll', () => { numbers.scrollTop = area.scrollTop })
  area.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send() }
  })
  model.on('view', () => { area.value = model.view.text; status.show(null); edited() })
  model.on('answer', () => {
    const { ok, message, line, column } = model.answer
    status.show({ ok, message })
    wrong = ok ? 0 : line
    area.toggleAttribute('aria-invalid', !ok)
    count()
    if (!ok && line) {
      const at = area.value.split('\n').slice(0, line - 1).reduce((n, text) => n + text.length + 1, 0) + column - 1
      area.focus()
      area.setSelectionRange(at, at + 1)
    }
    if (ok) edited()
  })
  area.value = model.view.text
  edited()
}
