/** A term as text: its shapes while it is written, and a fault at the part that has it. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const area = h('textarea', { spellcheck: 'false', wrap: 'off', rows: 10, 'aria-label': 'Term' })
  const { mark, place, underline } = markedText(area)
  const apply = h('button', { class: 'button primary', type: 'button', on: { click: send } }, 'Map this term')
  const reset = h('button', { class: 'button', type: 'button', on: { click: () => { area.value = model.view.given; edited() } } }, 'Discard edits')
  const status = statusLine()
  const shapes = h('div', { class: 'shapes' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'Term'), shapeLegend()),
    h('div', { class: 'editor' }, h('div', { class: 'paper' }, mark, area)),
    h('div', { class: 'row' }, apply, reset, h('span', { class: 'quiet' }, 'Ctrl+Enter maps it')), status, shapes)
  let base = null  // what the text was before edits
  let timer = 0
  let taken = null  // the text that was sent to be mapped: it gives way to the term as it prints

  const unedited = () => area.value === model.view.given

  function send() {
    taken = area.value
    model.send_msg({ kind: 'change', changes: { term: taken } })
  }

  /** As much as one part takes: to its closing parenthesis, or a word. */
  function extent(at) {
    if (area.value[at] !== '(') return (area.value.slice(at).match(/^[^\s()]+/) || [' '])[0].length
    let depth = 0
    for (let k = at; k < area.value.length; k++) {
      depth += { '(': 1, ')': -1 }[area.value[k]] ?? 0
      if (!depth) return k + 1 - at
    }
    return area.value.length - at
  }

  function edited() {
    clearTimeout(timer)
    underline(0)
    apply.disabled = reset.disabled = unedited()
    if (unedited()) { tell(null); return }
    timer = setTimeout(() => model.send_msg({ kind: 'write', text: area.value }), 200)
  }

  /** Show what was read of the text. */
  function tell(written) {
    const error = written?.error
    area.setAttribute('aria-invalid', String(!!error))
    underline(error?.line ?? 0, error?.column ?? 0, extent)
    apply.disabled = unedited() || !!error
    if (!written) { status.show(null); shapes.replaceChildren(); return }
    const at = error?.line ? `line ${error.line}, column ${error.column}: ` : ''
    status.show(error ? { ok: false, message: `${at}${error.message}${error.hint ? `. ${error.hint[0].toUpperCase()}${error.hint.slice(1)}.` : ''}` } : { ok: true, message: 'It has a shape.' })
    if (!error) shapes.replaceChildren(termLines(written, { label: 'Shapes of the parts' }))
  }

  area.addEventListener('input', edited)
  area.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      if (!apply.disabled) send()
    }
  })
  status.addEventListener('click', () => {
    const error = model.view.written?.error
    if (!error?.line) return
    const at = place(error.line, error.column)
    area.focus()
    area.setSelectionRange(at, at + extent(at))
  })

  function draw() {
    if (!there(model)) return
    const v = model.view
    if (v.given !== base) {
      const edits = base !== null && area.value !== base && area.value !== taken
      base = v.given
      if (!edits) area.value = v.given
      area.rows = Math.min(18, Math.max(6, area.value.split('\n').length + 1))
      edited()
    }
    if (v.written && v.written.text === area.value) tell(v.written)
  }

  draw()
  model.on('view', draw)
}
