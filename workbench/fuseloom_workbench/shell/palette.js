// Find or do anything: a dialog with a field and a list; top_bar.js opens it.

/** `collect()` gives what there is: `{group, name, hint, act}`, with `told` where the hint is a sentence that is not searched; `open()` shows it, and what `later()` adds once it has come. */
function makePalette(collect, later) {
  const MOST = 60   // entries that are drawn
  let all = [], found = [], at = 0
  const field = h('input', {
    type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list', 'aria-autocomplete': 'list', 'aria-label': 'Find or do anything',
    placeholder: 'Preset, view, region, kernel, fusion, node, model, data, run, command', autocomplete: 'off', spellcheck: 'false', on: { input: () => filter(), keydown: keys },
  })
  const list = h('ul', { id: 'palette-list', role: 'listbox', 'aria-label': 'What was found' })
  const told = h('p', { class: 'count', role: 'status' })
  const dialog = h('dialog', { class: 'palette', 'aria-label': 'Find or do anything', on: { click: event => { if (event.target === dialog) dialog.close() } } }, field, list, told)

  function filter() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    const rank = entry => entry.name.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1
    found = all.filter(e => words.every(w => `${e.group} ${e.name} ${e.told ? '' : e.hint || ''}`.toLowerCase().includes(w)))
    found = found.map((entry, k) => [rank(entry), k, entry]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , entry]) => entry)
    at = 0
    list.replaceChildren(...found.slice(0, MOST).map((entry, k) => h('li', { id: `palette-${k}`, role: 'option', on: { click: () => take(k), pointermove: () => mark(k) } },
      h('span', { class: 'group' }, entry.group), h('span', { class: 'name' }, entry.name), entry.hint && h('span', { class: 'hint' }, entry.hint))))
    told.textContent = !found.length ? 'Nothing has all these words in it.' : found.length > MOST ? `Showing ${MOST} of ${found.length}: type more to narrow it` : `${found.length} found`
    mark(0)
  }

  function mark(k) {
    at = Math.min(Math.max(k, 0), list.children.length - 1)
    ;[...list.children].forEach((option, n) => option.setAttribute('aria-selected', String(n === at)))
    if (at < 0) field.removeAttribute('aria-activedescendant')
    else {
      field.setAttribute('aria-activedescendant', `palette-${at}`)
      list.children[at].scrollIntoView({ block: 'nearest' })
    }
  }

  function take(k) {
    const entry = found[k]
    if (!entry) return
    dialog.close()   // gives the focus back
    entry.act()
  }

  function keys(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key]
    if (step) mark(at + step)
    else if (event.key === 'Enter') take(at)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  function open() {
    if (dialog.open) return
    all = collect()
    field.value = ''
    dialog.showModal()
    filter()
    field.focus()
    later().then(() => { if (dialog.open) { all = collect(); filter() } })
  }

  return { dialog, open }
}
