/** The annotation of each call, edited in place, and below it the parts that it stands for in a tile. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const choice = h('select', { 'aria-label': 'Call', on: { change: () => { chosen = Number(choice.value); draw() } } })
  const area = h('textarea', { spellcheck: 'false', wrap: 'off', rows: 12, 'aria-label': 'Annotation' })
  const { mark, underline } = markedText(area)
  const use = h('button', { class: 'button primary', type: 'button', on: { click: send } }, 'Use it')
  const reset = h('button', { class: 'button', type: 'button', title: 'The annotation that comes with the library', on: { click: () => model.send_msg({ kind: 'annotate', number: chosen, text: null }) } }, "The library's")
  const check = h('button', { class: 'button', type: 'button', title: 'Run the call on random parts and compare with the whole', on: { click: () => model.send_msg({ kind: 'check', number: chosen }) } }, 'Check on random parts')
  const status = statusLine()
  const parts = h('div', { class: 'parts' })
  const found = h('div', { class: 'found', role: 'status', 'aria-live': 'polite' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'Annotation'), choice), h('div', { class: 'editor' }, h('div', { class: 'paper' }, mark, area)), h('div', { class: 'row' }, use, reset, check), status, found, parts)
  let chosen = 0
  let base = null
  let timer = 0

  function send() {
    model.send_msg({ kind: 'annotate', number: chosen, text: area.value })
  }

  const current = () => model.view.calls?.find(call => call.number === chosen)

  area.addEventListener('input', () => {
    underline(0)
    status.show(null)
    const same = area.value === current()?.text
    use.disabled = same
    clearTimeout(timer)
    if (!same) timer = setTimeout(() => model.send_msg({ kind: 'write', number: chosen, text: area.value }), 200)
  })
  area.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      send()
    }
  })

  function draw() {
    const v = model.view
    if (!v.calls && !v.fault) return
    if (v.calls) {
      const names = v.calls.map(call => `${call.number} ${call.name}${call.edited ? ' (edited)' : ''}`)
      if (choice.dataset.of !== names.join()) {
        choice.dataset.of = names.join()
        if (chosen >= names.length) chosen = 0
        choice.replaceChildren(...v.calls.map((call, n) => h('option', { value: call.number }, names[n])))
      }
      choice.value = String(chosen)
      const call = current()
      const now = `${chosen} ${call.text}`
      if (now !== base) {
        base = now
        area.value = call.text
        area.rows = Math.min(18, call.text.split('\n').length + 1)
        underline(0)
        status.show(null)
      }
      use.disabled = area.value === call.text
      reset.disabled = !call.edited
      parts.replaceChildren(h('h3', {}, 'In a tile'), h('p', {}, h('b', {}, `${call.produced.data}: `), h('code', {}, call.produced.text)), ...call.consumed.map(one => h('p', {}, `needs ${one.data}: `, h('code', {}, one.text))))
    }
    check.disabled = v.busy
    found.replaceChildren(...(v.checked?.number === chosen ? [h('pre', { class: v.checked.ok ? 'good' : 'wrong' }, `${v.checked.ok ? '✓' : '✕'} ${v.checked.text}`)] : []))
    const w = v.written
    if (w && w.number === chosen && w.text === area.value) {
      underline(w.error?.line ?? 0, w.error?.column ?? 0)
      status.show(w.error ? { ok: false, message: `line ${w.error.line}, column ${w.error.column}: ${w.error.message}${w.error.hint ? `. ${w.error.hint[0].toUpperCase()}${w.error.hint.slice(1)}.` : ''}` } : { ok: true, message: area.value === current()?.text ? '' : 'It reads well; use it, or check it first by using it.' })
    }
  }

  draw()
  model.on('view', draw)
}
