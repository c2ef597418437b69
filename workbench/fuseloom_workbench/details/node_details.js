/** What is selected, as the server writes it; everything from a program is escaped there. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const sheet = h('div', {})
  el.append(sheet)
  lights(sheet)
  sheet.addEventListener('click', event => {
    if (event.target.closest('[data-show=nodes]')) el.dispatchEvent(new CustomEvent('fuseloom:tab', { bubbles: true, composed: true, detail: 'Graph' }))
  })
  const show = () => { sheet.innerHTML = model.view.html ?? '' }
  model.on('view', show)
  show()
}
