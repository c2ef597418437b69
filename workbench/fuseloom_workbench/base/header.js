/** The beginning of a page's top line: its name, and the other pages of the server where there are any. */
function pagesMenu(pages, current = '') {
  const name = [h('span', { class: 'mark', 'aria-hidden': 'true' }, '⋈'), 'Fuseloom']
  if (!pages?.length) return h('span', { class: 'brand' }, name)
  const menu = h('details', { class: 'brand', on: { keydown: event => { if (event.key === 'Escape' && menu.open) { menu.open = false; menu.querySelector('summary').focus() } } } },
    h('summary', { 'aria-label': 'Fuseloom: pages', title: 'The pages of this server' }, name, h('span', { class: 'more', 'aria-hidden': 'true' }, '▾')),
    h('nav', { 'aria-label': 'Pages' }, h('a', { href: './' }, h('b', {}, 'Home'), h('span', {}, 'all pages, and where to begin')),
      pages.map(page => h('a', { href: page.name, 'aria-current': page.name === current ? 'page' : null }, h('b', {}, page.title), h('span', {}, page.text)))))
  menu.addEventListener('focusout', event => { if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false })
  document.addEventListener('pointerdown', event => { if (!event.composedPath().includes(menu)) menu.open = false })
  return menu
}

/**
 * Light or dark for a whole page: as the system has it until one is chosen, which is kept; `el` is any element of it.
 * Returns what switches it.
 */
function pageTheme(el) {
  const LOOK = 'fuseloom:theme'
  const look = () => getComputedStyle(el).colorScheme.includes('dark') ? 'dark' : 'light'

  /** The page's own switch, which Bokeh's plots follow too; null where there is no page. */
  function themeSwitch() {
    const find = root => {
      for (const node of root.querySelectorAll('*')) {
        if (node.matches('[aria-label="Toggle theme"]')) return node
        const inner = node.shadowRoot && find(node.shadowRoot)
        if (inner) return inner
      }
      return null
    }
    return find(document)
  }

  /** As it was left, or else as the system has it; the page's switch may come a little later than this line. */
  function asLeft(tries) {
    let wanted = null
    try { wanted = localStorage.getItem(LOOK) } catch { /* forbidden */ }
    wanted ??= matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
    if (wanted === look()) return
    const found = themeSwitch()
    if (found) found.click()
    else if (tries) setTimeout(asLeft, 50, tries - 1)
  }

  asLeft(100)
  return () => {
    const wanted = look() === 'dark' ? 'light' : 'dark'
    themeSwitch()?.click()
    try { localStorage.setItem(LOOK, wanted) } catch { /* forbidden, or full */ }
  }
}
