/** The machine: presets, capacity of its channels, and its whole description as text. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const preset = h('select', { 'aria-label': 'Preset machine', on: { change: () => preset.value && model.send_msg({ kind: 'preset', name: preset.value }) } })
  const capacity = h('input', { class: 'capacity', 'aria-label': 'Channel capacity, in tokens', autocomplete: 'off', spellcheck: 'false', title: 'Tokens each channel holds; empty is unbounded', on: { change: () => model.send_msg({ kind: 'capacity', tokens: capacity.value }) } })
  const about = h('span', { class: 'about', 'data-help': 'machine.parameter' })
  const area = h('textarea', { 'aria-label': 'Machine as TOML', spellcheck: 'false', rows: 14 })
  const apply = () => model.send_msg({ kind: 'apply', text: area.value })
  area.addEventListener('keydown', event => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); apply() } })
  const revert = h('button', { class: 'button', on: { click: () => { area.value = model.view.text } } }, 'Revert')
  const own = h('details', {}, h('summary', {}, 'Describe your own machine (TOML)'),
    h('p', { class: 'quiet' }, 'What is left out is as on the preset named by ', h('code', {}, 'base = "hbm2"'), '; Ctrl+Enter applies.'), area,
    h('div', { class: 'keys' }, h('button', { class: 'button primary', 'data-action': 'machine', on: { click: apply } }, 'Use this machine'), revert))
  const form = h('div', { class: 'groups' })
  const parameters = h('details', { class: 'parameters' }, h('summary', {}, 'Parameters of the machine'), form)
  const status = statusLine(true)
  let changed = ''
  let drawnCapacity = null
  let drawnText = null

  function field(f) {
    const send = value => { changed = f.path; model.send_msg({ kind: 'field', path: f.path, text: value }) }
    const input = f.choice
      ? h('select', { 'data-field': f.path, on: { change: () => send(input.value) } }, ['on', 'off'].map(t => h('option', { value: t, selected: t === f.value }, t)))
      : h('input', { 'data-field': f.path, value: f.value, autocomplete: 'off', spellcheck: 'false', on: { change: () => send(input.value) } })
    input.setAttribute('aria-label', `${f.label}, ${f.unit || 'text'}: ${f.meaning}`)
    return h('label', { class: 'field', 'data-help': f.path === 'channel_capacity' ? 'machine.capacity' : 'machine.parameter', title: f.meaning }, h('span', {}, f.label), input, h('small', {}, f.unit), h('span', { class: 'wrong', role: 'alert' }))
  }

  function drawForm() {
    const held = el.getRootNode().activeElement
    const path = held?.dataset?.field
    const typed = path && held.defaultValue !== undefined && held.value !== held.defaultValue ? held.value : null
    form.replaceChildren(...model.view.groups.map(g => h('fieldset', {}, h('legend', {}, g.title), g.fields.map(field))))
    const again = path && form.querySelector(`[data-field="${path}"]`)
    if (again && typed !== null && path !== changed) again.value = typed
    again?.focus()
  }
  el.append(h('div', { class: 'row' }, h('label', {}, 'Machine ', preset), h('label', { 'data-help': 'machine.capacity' }, 'channels hold ', capacity, ' tokens'), about), status, parameters, own)

  function draw() {
    if (!there(model)) return
    const v = model.view
    preset.replaceChildren(...v.presets.map(name => h('option', { value: name, selected: name === v.chosen }, name)),
      ...v.chosen ? [] : [h('option', { value: '', selected: true }, v.label)])
    // Somebody may be writing over what is not new: the answer to an earlier change comes late.
    const held = el.getRootNode().activeElement
    if (held !== capacity || v.capacity !== drawnCapacity) { capacity.value = drawnCapacity = v.capacity; capacity.setAttribute('aria-invalid', false) }
    if (held !== area || v.text !== drawnText) area.value = drawnText = v.text
    about.textContent = v.about
    drawForm()
  }

  model.on('view', draw)
  model.on('status', () => {
    status.show(model.status)
    if (changed) {
      const at = form.querySelector(`[data-field="${changed}"]`)
      const bad = model.status.ok === false && model.status.told
      if (at && bad) {
        at.setAttribute('aria-invalid', 'true')
        at.parentNode.querySelector('.wrong').textContent = model.status.message
        status.show(null)
      }
      changed = ''
    }
    if (model.status.ok === false) preset.value = model.view.chosen
    capacity.setAttribute('aria-invalid', model.status.ok === false && capacity.value !== model.view.capacity)
  })
  draw()
}
