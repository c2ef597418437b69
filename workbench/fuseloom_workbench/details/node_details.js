/** What is selected, as the server writes it; everything from a program is escaped there. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const sheet = h('div', {})
  el.append(sheet)
  const show = () => { sheet.innerHTML = model.view.html ?? '' }
  model.on('view', show)
  show()
}
