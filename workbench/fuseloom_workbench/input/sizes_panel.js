/** The model's sizes: a closed line of all, a form inside. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const line = h('span', { class: 'line', 'data-help': 'input.size' })
  const form = h('div', { class: 'form' })
  const use = () => {
    const values = {}
    for (const input of form.querySelectorAll('input:not(:disabled)')) if (input.value.trim()) values[input.name] = input.value.trim()
    model.send_msg({ kind: 'use', values })
  }
  form.addEventListener('keydown', event => { if (event.key === 'Enter') use() })
  const apply = h('button', { class: 'button primary', 'data-action': 'sizes', on: { click: use } }, 'Use these sizes')
  const own = h('button', { class: 'button', on: { click: () => model.send_msg({ kind: 'own' }) } }, 'Back to the model’s own')
  const status = statusLine(true)
  const box = h('details', {}, h('summary', {}, h('b', {}, 'Sizes '), line),
    h('p', { class: 'quiet' }, 'Enter applies all of them. An emptied field takes the model’s own value.'),
    form, status, h('div', { class: 'keys' }, apply, own))
  el.append(box)

  function field(entry) {
    const hint = entry.fixed || `${entry.help}; ${entry.bounds}${entry.own ? `; by itself ${entry.own}` : ''}`
    const input = h('input', { name: entry.name, value: entry.value, disabled: !!entry.fixed, inputmode: 'decimal', autocomplete: 'off', spellcheck: 'false', 'aria-label': `${entry.name}: ${hint}` })
    return h('label', { title: hint, 'data-help': 'input.size', class: model.view.chosen.includes(entry.name) ? 'chosen' : '' }, h('span', {}, entry.name), input, h('small', {}, entry.fixed || entry.bounds))
  }

  function draw() {
    if (!there(model)) return
    const v = model.view
    el.style.display = v.entries.length ? '' : 'none'
    line.textContent = v.line
    form.replaceChildren(...v.entries.map(field))
    const free = v.entries.some(entry => !entry.fixed)
    apply.disabled = !free
    own.disabled = !free || !v.chosen.length
  }

  model.on('view', draw)
  model.on('status', () => status.show(model.status))
  draw()
}
