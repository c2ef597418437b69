/** The machine: presets, capacity of its channels, and its whole description as text. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const preset = h('select', { 'aria-label': 'Machine', on: { change: () => preset.value && model.send_msg({ kind: 'preset', name: preset.value }) } })
  const capacity = h('input', { class: 'capacity', 'aria-label': 'Channel capacity, in tokens', autocomplete: 'off', spellcheck: 'false', title: 'Tokens each channel holds; empty is unbounded', on: { change: () => model.send_msg({ kind: 'capacity', tokens: capacity.value }) } })
  const about = h('span', { class: 'about' })
  const area = h('textarea', { 'aria-label': 'Machine as TOML', spellcheck: 'false', rows: 14 })
  const apply = () => model.send_msg({ kind: 'apply', text: area.value })
  area.addEventListener('keydown', event => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) apply() })
  const revert = h('button', { class: 'button', on: { click: () => { area.value = model.view.text } } }, 'Revert')
  const own = h('details', {}, h('summary', {}, 'Describe your own machine (TOML)'),
    h('p', { class: 'quiet' }, 'What is left out is as on the preset named by ', h('code', {}, 'base = "hbm2"'), '; Ctrl+Enter applies.'), area,
    h('div', { class: 'keys' }, h('button', { class: 'button primary', 'data-action': 'machine', on: { click: apply } }, 'Use this machine'), revert))
  const status = statusLine(true)
  el.append(h('div', { class: 'row' }, h('label', {}, 'Machine ', preset), h('label', {}, 'channels hold ', capacity, ' tokens'), about), status, own)

  function draw() {
    if (!there(model)) return
    const v = model.view
    preset.replaceChildren(...v.presets.map(name => h('option', { value: name, selected: name === v.chosen }, name)),
      ...v.chosen ? [] : [h('option', { value: '', selected: true }, v.label)])
    capacity.value = v.capacity
    capacity.setAttribute('aria-invalid', false)
    about.textContent = v.about
    area.value = v.text
  }

  model.on('view', draw)
  model.on('status', () => {
    status.show(model.status)
    if (model.status.ok === false) preset.value = model.view.chosen
    capacity.setAttribute('aria-invalid', model.status.ok === false && capacity.value !== model.view.capacity)
  })
  draw()
}
