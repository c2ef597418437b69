/** Undo, redo and every step with its factor; find, share, save, load, theme, keys. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const numbers = helpBackend()
  const theme = pageTheme(el)
  const LARGEST = 4 << 20   // bytes of a saved session
  const KEYS = [
    ['Ctrl+K', 'find or do anything'], ['Ctrl+Enter', 'run, or cancel'], ['Ctrl+Z, Ctrl+Shift+Z', 'undo, redo'], ['F6, Shift+F6', 'next, previous pane'], ['F1', 'what the numbers of a pane are'], ['Ctrl+B', 'fold the rail'],
    ['1 to 9', 'open a view'], ['E', 'enlarge it, or restore the panes'], ['← → on a bar', 'move the boundary'], ['Enter on a seam', 'cut there'], ['Delete on a bar', 'fuse both sides'],
    ['Alt+↑, Alt+↓ on an index', 'move its row'], ['arrows, Enter in the table', 'next cell, select it'], ['+ − 0 in the graph', 'zoom, fit'], ['arrows, N, P in the graph', 'along edges, next, previous node'], ['F, / in the graph', 'fold or open, find'],
    ['W S A D in the timeline', 'zoom in, out, earlier, later'], ['arrows on a splitter', 'size of a pane'], ['P on a run', 'pin it as A'], [', . Space in Streams', 'back, step, play'], ['Esc', 'clear the selection, end a drag'], ['?', 'this list and the tour'],
  ]
  const say = (name, detail) => el.dispatchEvent(new CustomEvent(`fuseloom:${name}`, { bubbles: true, composed: true, detail }))
  const quiet = (label, text, title, act) => h('button', { class: 'quiet', 'aria-label': label, title, on: { click: act } }, text)
  const undo = quiet('Undo', '↶ Undo', 'Undo the last change (Ctrl+Z)', () => model.send_msg({ kind: 'undo' }))
  const redo = quiet('Redo', '↷ Redo', 'Do it again (Ctrl+Shift+Z)', () => model.send_msg({ kind: 'redo' }))
  const steps = h('div', { class: 'steps', role: 'group', 'aria-label': 'Steps so far' })
  const said = h('span', { class: 'news', role: 'status', 'aria-live': 'polite' })
  const file = h('input', { type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': 'A saved session', on: { change: load } })
  const help = h('dialog', { 'aria-label': 'Keys' }, h('h2', {}, 'Keys'),
    h('dl', {}, KEYS.flatMap(([key, what]) => [h('dt', {}, key), h('dd', {}, what)])),
    h('div', { class: 'keys' }, h('button', { class: 'button primary', on: { click: () => { help.close(); say('tour') } } }, 'Take the tour (2 minutes)'),
      h('button', { class: 'button', on: { click: () => help.close() } }, 'Close')))
  const elsewhere = (sent.pages ?? []).find(page => page.name === 'compare')  // none in a notebook
  const compare = h('a', { class: 'quiet', target: '_blank', hidden: !elsewhere, on: { click: carry } }, 'Five ways')
  const palette = makePalette(() => {
    const command = (name, hint, act) => ({ group: 'Command', name, hint, act })
    const offers = []  // what the bench around has: Run, its views and panes
    say('offers', offers)
    return [...offers.filter(o => o.group === 'Command'),
      !undo.disabled && command('Undo', 'Ctrl+Z', () => undo.click()), !redo.disabled && command('Redo', 'Ctrl+Shift+Z', () => redo.click()),
      command('Share', 'copy an address of this design', share), elsewhere && command('Five ways', 'this program by every system, on its page', () => compare.click()), command('Save', 'this session as a file', () => say('save')), command('Open', 'a saved session', () => file.click()),
      command('Light or dark theme', '', theme), command('Run all presets', 'of this model', () => window.dispatchEvent(new Event('fuseloom:presets'))), command('Tour', '2 minutes', () => say('tour')), command('Keys', '?', () => help.showModal()),
      ...offers.filter(o => o.group !== 'Command'),
      ...(model.view.finds ?? []).map(entry => ({ ...entry, act: () => model.send_msg({ kind: 'take', do: entry.do }) })),
      ...[...numbers.has?.values() ?? []].map(q => ({ group: 'What is', name: q.name, hint: q.sentence, told: true, act: () => numbers.show(said, 'keys', q.key) }))].filter(Boolean)
  }, () => numbers.has ? new Promise(() => {}) : numbers.all())
  el.append(h('div', { class: 'bar' },
    pagesMenu(sent.pages, 'explorer'),
    quiet('Fold or show the rail', '☰', 'Fold or show the rail (Ctrl+B)', () => say('rail')), h('i'), undo, redo, steps, said,
    quiet('Find or do anything', 'Find…', 'Find or do anything (Ctrl+K)', () => palette.open()),
    quiet('Share', 'Share', 'Copy an address that opens this model, data, machine and schedule', share),
    compare,
    quiet('Save', 'Save', 'Save this session as a file', () => say('save')),
    quiet('Open', 'Open…', 'Open a saved session', () => file.click()), file, h('i'),
    quiet('Keys', '?', 'Keys and the tour (?)', () => help.showModal()),
    quiet('Light or dark', '◐', 'Light or dark theme', theme)), help, palette.dialog)

  let quietly = null
  function tell(text, seconds = 4) {
    said.textContent = text
    clearTimeout(quietly)
    quietly = setTimeout(() => { said.textContent = '' }, 1000 * seconds)
  }

  /** The link to the page of all systems leads there; what does not come along is said here. */
  function carry(event) {
    const { address, lacks } = model.view.compare
    if (!address) event.preventDefault()
    if (lacks) tell(address ? `Compared ${lacks}` : lacks, 12)
  }

  function drawCompare({ address, lacks }) {
    const what = 'this program and its data by every system, and this schedule beside the presets'
    // without an address it stays a stop of the keyboard, and says why
    compare.setAttribute('href', address || '#')
    if (address) compare.removeAttribute('aria-disabled')
    else compare.setAttribute('aria-disabled', 'true')
    compare.title = address ? `${elsewhere?.title}: ${what}${lacks ? `; ${lacks}` : ''}` : lacks
  }

  async function share() {
    const { address: query, stays } = model.view
    if (!query) { tell(`${stays}. Nothing was copied.`, 12); return }
    const address = new URL(query, location.href).href
    history.replaceState(null, '', address)
    const more = stays ? `, ${stays}` : ''
    const seconds = stays ? 12 : 4
    try {
      await navigator.clipboard.writeText(address)
      tell(`Address copied${more}`, seconds)
    } catch { tell(`The address is in the address bar${more}`, seconds) }
  }

  async function load() {
    const [chosen] = file.files
    file.value = ''
    if (!chosen) return
    if (chosen.size > LARGEST) { tell(`A session of ${Math.ceil(chosen.size / 1e6)} MB: more than the 4 MB that are read`); return }
    try {
      const saved = JSON.parse(await chosen.text())
      if (typeof saved !== 'object' || saved === null || Array.isArray(saved)) throw new Error('not an object')
      model.send_msg({ kind: 'restore', saved })
    } catch { tell(`${chosen.name} is no saved session: it is not JSON. Nothing has changed.`) }
  }

  function draw() {
    if (!there(model)) return
    const { trail, at, earlier, later, undo: back, redo: forth } = model.view
    const more = (number, word) => number ? [h('span', { class: 'then', title: `${number} ${word} steps: Undo and Redo reach them` }, `… ${number} ${word}`)] : []
    undo.disabled = !back
    redo.disabled = !forth
    drawCompare(model.view.compare)
    steps.replaceChildren(...more(earlier, 'earlier'), ...trail.flatMap((step, k) => [k > 0 && h('span', { class: 'then', 'aria-hidden': 'true' }, '›'),
      h('button', {
        class: 'step', 'aria-current': k === at ? 'step' : null, title: step.hint, on: { click: () => k !== at && model.send_msg({ kind: 'travel', by: k - at }) },
      }, step.name, step.factor && h('b', { class: step.better ? 'up' : 'down', 'data-help': 'factor.step' }, step.factor))]).filter(Boolean), ...more(later, 'later'))
    steps.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }

  window.addEventListener('keydown', event => {
    if (el.isConnected && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      palette.open()
      return
    }
    if (!el.isConnected || event.key !== '?' || event.ctrlKey || event.metaKey) return
    let node = document.activeElement
    while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
    if (!node?.matches?.('input, textarea, select')) help.showModal()
  })
  model.on('view', draw)
  draw()
}
