/** The top line of a page that is no bench: the pages of the server, its own title, light or dark. */
export function render({ model, el }) {
  passOverNewPlots()
  el.append(h('header', { class: 'bar' }, pagesMenu(model.pages, model.current), h('i'), h('h1', {}, model.title), h('span', { class: 'gap' }),
    h('button', { class: 'quiet', 'aria-label': 'Light or dark', title: 'Light or dark theme', on: { click: pageTheme(el) } }, '◐')))
}

/**
 * Let Bokeh pass over plots that are not laid out yet. Whatever else is drawn makes it lay out the whole page, and of a
 * plot that has come at the same time it would read the layout that is not there; its own turn comes.
 */
function passOverNewPlots() {
  const plots = window.Bokeh?.Models?.get?.('Plot')?.prototype.default_view?.prototype
  if (!plots || Object.hasOwn(plots, 'passesOver')) return
  plots.passesOver = true
  for (const step of ['_measure_layout', '_after_layout']) {
    const taken = plots[step]
    plots[step] = function () { if (this.layout) taken.call(this) }
  }
}
