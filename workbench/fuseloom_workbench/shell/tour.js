// The tour: an offer on the first visit, and cards that point at the parts of the bench; bench.js starts it.

/** A part of the page's state as text, by which a step notices that the visitor has done it. */
const boundaries = () => `at ${allDeep('[data-pane=chain]', 'button.bar').map(bar => bar.dataset.gap)}`  // there may be none
const runs = () => allDeep('[data-pane=result]', '.out:not(.stale) .cycles').map(text => text.textContent).filter(text => !text.startsWith('est.')).join()
const node = () => allDeep('[data-pane=bottom]', 'g.node.selected').map(g => g.id).join()
const kernel = () => allDeep('[data-pane=chain]', '.kernel[aria-pressed=true]').map(box => box.dataset.kernel).join()

/**
 * Steps: what is pointed at (a pane, or a place within one, through shadow roots), the tab to open, title, text; and what the visitor
 * is to do, with the part of the state that this changes.
 */
const TOUR = [
  { at: '[data-pane=chain]', title: 'The program as kernels', task: 'Click a kernel.', state: kernel, done: 'Details tell what it takes.',
    text: 'Each box is a kernel with its Einsum. Kernels in one coloured region are fused: what passes between them never goes to memory.' },
  { at: '[data-pane=chain] .gap.cut:not(.fixed), [data-pane=chain] .gap', title: 'Fusion boundaries', task: 'Drag a bar to another gap, or click an arrow to cut there.', state: boundaries, done: 'The estimate on top is that of the new design; Ctrl+Z takes it back.',
    text: 'An arrow fuses two kernels, a bar parts two regions. The number below each is what changing it is estimated to cost (+) or to save (−).' },
  { at: '[data-action=run]', title: 'Run', task: 'Press Run.', state: runs, done: 'Beside the cycles stands what was expected, and whether the result is right.',
    text: 'Run simulates the design on its data, counts the cycles and compares the result with the dense reference. Ctrl+Enter does the same.' },
  { at: '[data-pane=result]', title: 'The answer and the cause',
    text: 'Cycles come first. On the right stands why it takes so long, and changes that would help, each with what it promises: a click makes one.' },
  { at: '[data-pane=table]', title: 'The fusion table',
    text: 'A row is an index variable, the outermost on top; a column is one use of a tensor. Drag a row to change the order. Right click on a cell, or M, offers what can be chosen there.' },
  { at: '[data-pane=bottom]', tab: 'Graph', title: 'The dataflow graph', task: 'Click a node.', state: node, done: 'Details say what it does, and its streams are bright.',
    text: 'The fused region as hardware primitives joined by streams. Colour shows where cycles are spent.' },
  { at: '[data-pane=bottom]', tab: 'Landscape', title: 'More than one move',
    text: 'Landscape maps what any two moves together would change; Compare sets two designs side by side; Search finds the best one and proves it. Costs has every run, Streams shows tokens cycle by cycle.' },
  { at: '[aria-label=Share]', title: 'Share',
    text: 'Share copies an address that opens this model, data, machine and schedule; values from your files stay here. Save writes the session with its runs to a file. The tour is found again under ?, the keys.' },
]

/** All elements of a selector within a part of the page, through all shadow roots. */
const allDeep = (part, selector) => { const within = findDeep(part); return within ? everyShadow(within).flatMap(root => [...root.querySelectorAll(selector)]) : [] }

/** The first drawn element that a selector finds, through all shadow roots; its ancestors may be outside of them. */
function findDeep(selector, root = document) {
  for (const one of selector.split(',')) {
    const [first, ...rest] = one.trim().split(/\s+(?=[.[#])/)
    const within = rest.join(' ')
    for (const node of everyShadow(root)) {
      const found = node.querySelector(first)
      const inner = found && (within ? findDeep(within, found) : found)
      if (inner && inner.getClientRects().length) return inner
    }
  }
  return null
}

/** A root and all shadow roots below it. */
function everyShadow(root) {
  const roots = [root]
  for (const node of root.querySelectorAll('*')) if (node.shadowRoot) roots.push(...everyShadow(node.shadowRoot))
  return roots
}

/**
 * The tour of a bench: `start()` begins it, `offer()` asks on the first visit.
 * `open(title)` opens a tab, `titles` are those there are.
 */
function makeTour(app, titles, open) {
  const KEY = 'fuseloom:tour'
  const ring = h('div', { class: 'tour-ring', hidden: true, 'aria-hidden': 'true' })
  const card = h('section', { class: 'tour-card', role: 'dialog', 'aria-modal': 'false', 'aria-labelledby': 'tour-title', hidden: true, tabindex: -1, on: { keydown: keys } })
  const steps = TOUR.filter(step => !step.tab || titles.includes(step.tab))
  let at = -1
  let before = null   // what had the focus
  let was = ''         // the state when the step began
  let watch = 0
  app.append(ring, card)

  const button = (text, act, primary = false, more = {}) => h('button', { class: primary ? 'button primary' : 'button', on: { click: act }, ...more }, text)
  const remember = () => { try { localStorage.setItem(KEY, 'seen') } catch { /* forbidden */ } }
  const seen = () => { try { return localStorage.getItem(KEY) === 'seen' } catch { return true } }

  function keys(event) {
    if (event.key === 'Escape') end()
    else if (at < 0) return
    else if (event.key === 'ArrowRight') go(at + 1)
    else if (event.key === 'ArrowLeft') go(at - 1)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  function offer() {
    const asked = new URLSearchParams(location.search).has('tour')
    if (!asked && (seen() || navigator.webdriver)) return
    card.classList.add('offer')
    card.style.cssText = ''
    card.setAttribute('aria-live', 'polite')
    card.replaceChildren(h('b', { id: 'tour-title' }, 'New here?'),
      h('div', { class: 'tour-keys' }, button('Take the tour (2 minutes)', start, true), button('Not now', end)))
    card.hidden = false
  }

  const told = h('div', { 'aria-live': 'polite' })
  const next = button('Next', () => go(at + 1), true), back = button('Back', () => go(at - 1)), leave = button('End', end)

  function start() {
    remember()
    before = deepFocus()
    card.classList.remove('offer')
    card.replaceChildren(told, h('div', { class: 'tour-keys' }, next, back, leave))
    card.hidden = false
    go(0)
    next.focus({ preventScroll: true })
  }

  function end() {
    remember()
    const mine = card.contains(card.getRootNode().activeElement)
    card.hidden = ring.hidden = true
    clearInterval(watch)
    at = -1
    if (mine && before?.isConnected) before.focus()
  }

  function go(k) {
    if (k >= steps.length) { end(); return }
    if (k < 0) return
    at = k
    const step = steps[at], last = at === steps.length - 1
    if (step.tab) open(step.tab)
    told.replaceChildren(h('small', {}, `Step ${at + 1} of ${steps.length}`), h('h2', { id: 'tour-title' }, step.title), h('p', {}, step.text), step.task && task(step))
    clearInterval(watch)
    was = step.state?.() ?? ''
    if (step.task) watch = setInterval(() => look(step), 200)
    next.textContent = last ? 'Finish' : 'Next'
    if (at === 0 && deepFocus() === back) next.focus()
    back.disabled = at === 0
    leave.hidden = last
    findDeep(step.at)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    place()
  }

  /** What the visitor is to do in a step; Next goes on without it. */
  const task = step => h('p', { class: 'tour-task' }, h('b', { 'aria-hidden': 'true' }, '→ '), step.task)

  /** Whether it was done: then the card says what came of it. */
  function look(step) {
    const now = step.state()
    if (!now || now === was) return
    clearInterval(watch)
    told.lastChild.className = 'tour-task done'
    told.lastChild.textContent = `✓ ${step.done}`
    place()
  }

  /** The ring around the part, and the card where there is most room beside it. */
  function place() {
    if (at < 0) return
    const part = findDeep(steps[at].at)
    const room = app.getBoundingClientRect()
    ring.hidden = !part
    const box = part ? part.getBoundingClientRect() : room
    const [left, top, width, height] = [box.left - room.left, box.top - room.top, box.width, box.height]
    ring.style.cssText = `left:${Math.max(0, left - 2)}px;top:${Math.max(0, top - 2) + app.scrollTop}px;width:${Math.min(width + 4, room.width - left)}px;height:${Math.min(height + 4, room.height - top)}px`
    const [w, tall] = [card.offsetWidth, card.offsetHeight], gap = 12
    const above = top - tall - gap, below = top + height + gap
    const y = below + tall < room.height ? below : above > 0 ? above : Math.max(gap, top + gap)
    card.style.cssText = `left:${Math.max(gap, Math.min(left, room.width - w - gap))}px;top:${Math.min(y, room.height - tall - gap) + app.scrollTop}px;right:auto;bottom:auto`
  }

  new ResizeObserver(place).observe(app)
  return { offer, start, end }
}

/** What has the focus, through all shadow roots. */
function deepFocus() {
  let node = document.activeElement
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return node
}
