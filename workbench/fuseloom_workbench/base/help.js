// What a number is: an element with `data-help` opens a card with a sentence, formula, unit and source.

/** The one of the page, made by the component that comes first; `register(model)` lets it ask Python for the texts. */
function helpBackend() {
  if (window.fuseloomHelp) return window.fuseloomHelp
  const HOVER = 700, PRESS = 550, WAIT = 3000  // milliseconds: of pointing, of a touch, between two questions
  const ACTS = 'button, a[href], input, select, textarea, summary, label, canvas, g.node, [contenteditable], [role=button], [role=option], [role=radio], [role=treeitem], [role=gridcell], [role^=menuitem], [role=tab]'
  const models = []
  let texts = null, asked = -WAIT, turn = 0, waiting = []
  let open = null      // { mark, key, how, from }: what is explained, how it was opened, and where the focus was
  let timer = 0, away = 0, over = null, titles = [], swallow = false

  // Texts: once for a page ----------------------------------------------------------------------
  function register(model) {
    if (!models.includes(model)) models.push(model)
  }
  function take(found) {
    texts = new Map(found.map(one => [one.key, one]))
    for (const f of waiting.splice(0)) f(texts)
  }
  function all() {
    if (texts) return Promise.resolve(texts)
    if (models.length && performance.now() - asked > WAIT) {
      const model = models[turn++ % models.length]
      asked = performance.now()
      model.on('msg:custom', message => { if (message?.kind === 'help' && !texts) take(message.texts) })
      model.send_msg({ kind: 'help' })
    }
    return new Promise(done => waiting.push(done))
  }

  // Where: shadow roots included ------------------------------------------------------------------
  const above = node => node.parentNode || node.host
  const closest = (node, selector) => { for (let at = node; at; at = above(at)) if (at.matches?.(selector)) return at; return null }
  const seen = node => node.checkVisibility ? node.checkVisibility({ visibilityProperty: true }) && node.getClientRects().length > 0 : node.getClientRects().length > 0
  const focused = () => { let at = document.activeElement; while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement; return at }
  function* marks(node) {
    if (node.nodeType === 1 && node.dataset?.help && seen(node)) yield node
    for (const child of [...node.shadowRoot?.children || [], ...node.children || []]) yield* marks(child)
  }
  /** What around a mark does something by itself, within its component. */
  const acting = mark => { for (let at = mark; at && at.nodeType === 1; at = at.parentNode) if (at.matches(ACTS)) return at; return null }
  const around = node => closest(node, '.pane, .top') || document.body
  /** The numbers of a pane, each quantity once. */
  function listed(node) {
    const found = new Map()
    for (const mark of marks(around(node))) if (!found.has(mark.dataset.help)) found.set(mark.dataset.help, mark)
    return found
  }

  // The card --------------------------------------------------------------------------------------
  const card = h('div', { class: 'whatis', id: 'whatis', popover: 'manual', tabindex: -1 })
  const line = (name, text, kind) => [h('dt', {}, name), h('dd', { class: kind }, text)]

  /** What the arrows go through: the numbers of the pane, or all quantities where none was pointed at. */
  const near = () => open.mark.dataset.help ? listed(open.from?.isConnected && around(open.from) !== document.body ? open.from : open.mark) : new Map([...texts.keys()].map(key => [key, open.mark]))

  /** What stands where a mark stood before its view was drawn anew. */
  function successor(root, key, box) {
    const far = node => { const at = node.getBoundingClientRect(); return Math.hypot(at.left - box.left, at.top - box.top) }
    return [...root.querySelectorAll(`[data-help="${key}"]`)].filter(seen).sort((a, b) => far(a) - far(b))[0] || null
  }

  async function show(mark, how, key = mark.dataset.help) {
    const before = open
    open = { mark, key, how, from: before?.from || focused() }
    const mine = open, root = mark.getRootNode(), box = mark.getBoundingClientRect()
    const told = (await all()).get(key)
    if (!told || open !== mine) return
    if (!mark.isConnected) mark = open.mark = successor(root, key, box)
    if (!mark) { open = null; return }
    if (card.getRootNode() !== root) root.append(card)
    const hover = how === 'hover', keys = how === 'keys' ? [...near().keys()] : []
    card.setAttribute('role', hover ? 'tooltip' : 'dialog')
    card.setAttribute('aria-label', `What is: ${told.name}`)
    card.dataset.key = key
    card.replaceChildren(...[h('b', {}, told.name), h('p', {}, told.sentence),
      h('dl', {}, line('formula', told.formula), line('unit', told.unit), line('source', told.source), hover && titles.length > 0 && line('here', titles.map(([, text]) => text).join('\n'), 'here')),
      !hover && h('small', {}, keys.length > 1 ? `${keys.indexOf(key) + 1} of ${keys.length} here: ↑ ↓ · Esc closes` : 'Esc closes')].filter(Boolean))
    document.querySelectorAll('[data-help-open]').forEach(node => node.removeAttribute('data-help-open'))
    before?.mark.removeAttribute('data-help-open')
    if (mark.dataset.help) mark.setAttribute('data-help-open', '')
    if (hover) mark.setAttribute('aria-describedby', 'whatis')
    if (how === 'keys') mark.scrollIntoView?.({ block: 'nearest', inline: 'nearest' })
    card.showPopover()
    place()
    if (!hover) card.focus({ preventScroll: true })
  }

  function place() {
    if (!open?.mark.isConnected || !card.matches(':popover-open')) return
    const act = open.how === 'hover' ? acting(open.mark) : null, box = (act || open.mark).getBoundingClientRect()
    const { offsetWidth: w, offsetHeight: tall } = card
    const fit = (at, size, room) => Math.max(6, Math.min(at, room - size - 6))
    let x = fit(box.left, w, innerWidth), y = box.bottom + 6 + tall < innerHeight ? box.bottom + 6 : box.top - tall - 6
    if (!open.mark.dataset.help) { x = (innerWidth - w) / 2; y = innerHeight * .16 }
    else if (act && box.right + w + 12 < innerWidth) { x = box.right + 6; y = box.top }  // what stands below stays free
    else if (act && box.left > w + 12) { x = box.left - w - 6; y = box.top }
    card.style.left = `${x}px`
    card.style.top = `${fit(y, tall, innerHeight)}px`
  }

  function close(back = false) {
    if (!open) return
    const { mark, from, how } = open
    open = null
    mark.removeAttribute('data-help-open')
    if (how === 'hover') mark.removeAttribute('aria-describedby')
    if (card.matches(':popover-open')) card.hidePopover()
    card.remove()
    if (back && from?.isConnected) from.focus({ preventScroll: true })
  }

  function walk(step) {
    const found = near(), keys = [...found.keys()]
    if (!keys.length) return
    const key = keys[(keys.indexOf(open.key) + step + keys.length) % keys.length]
    show(found.get(key), 'keys', key)
  }

  card.addEventListener('keydown', event => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key] || (event.key === 'F1' ? event.shiftKey ? -1 : 1 : 0)
    if (event.key === 'Escape') close(true)
    else if (event.key === 'Tab') { close(true); return }  // goes on from where the focus was
    else if (step && open) walk(step)
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  card.addEventListener('focusout', event => { if (event.relatedTarget && !card.contains(event.relatedTarget)) close() })
  card.addEventListener('pointerenter', () => clearTimeout(away))
  card.addEventListener('pointerleave', () => { if (open?.how === 'hover') close() })

  // Keys ------------------------------------------------------------------------------------------
  document.addEventListener('keydown', event => {
    const here = focused()
    if (open?.how === 'hover' && event.key !== 'Escape') close()
    if (event.ctrlKey || event.metaKey || event.altKey || card.contains(here)) return
    if (event.key === 'Escape' && open) { close(true); return }
    const own = here && here.dataset?.help && !here.matches(ACTS) ? here : null
    if (event.key === 'F1') {
      if (closest(here, 'dialog')) return
      event.preventDefault()
      event.stopPropagation()
      const inside = here && here !== document.body ? closest(here, '[data-help]') || marks(here).next().value : null
      const first = inside && seen(inside) ? inside : listed(here || document.body).values().next().value
      if (first) show(first, 'keys')
    } else if (own && (event.key === 'Enter' || event.key === '?')) {
      event.preventDefault()
      event.stopPropagation()
      show(own, 'keys')
    }
  }, true)

  // Pointer: a click on what does nothing else; else pointing for a while, or a long touch ------------
  const markOf = event => event.composedPath().find(node => node.nodeType === 1 && node.dataset?.help && !card.contains(node))
  function leave() {
    clearTimeout(timer)
    over = null
    for (const [node, text] of titles.splice(0)) if (!node.hasAttribute('title')) node.setAttribute('title', text)
  }
  // no pointerover: one between two parts of a component does not come out of it
  document.addEventListener('pointermove', event => {
    const mark = markOf(event)
    if (mark === over || event.composedPath().includes(card)) return
    leave()
    if (open?.how === 'hover') away = setTimeout(() => { if (open?.how === 'hover') close() }, 250)
    const act = mark && event.pointerType === 'mouse' && !event.buttons && acting(mark)
    if (!act) return
    over = mark
    for (let at = mark; at?.nodeType === 1; at = at.parentNode) if (at.hasAttribute('title')) { titles.push([at, at.getAttribute('title')]); at.removeAttribute('title') }
    const root = mark.getRootNode(), key = mark.dataset.help, box = mark.getBoundingClientRect()
    timer = setTimeout(() => {
      const now = mark.isConnected ? mark : successor(root, key, box)
      if (!now?.matches(':hover') || (open && open.how !== 'hover')) return
      clearTimeout(away)
      show(now, 'hover')
    }, HOVER)
  })
  document.addEventListener('pointerdown', event => {
    clearTimeout(timer)
    swallow = false
    if (open && !event.composedPath().includes(card)) close()
    const mark = markOf(event)
    if (event.pointerType === 'touch' && mark && acting(mark)) timer = setTimeout(() => { swallow = true; show(mark, 'touch') }, PRESS)
  }, true)
  for (const end of ['pointerup', 'pointercancel']) document.addEventListener(end, () => clearTimeout(timer), true)
  // what follows a long touch, the focus and the click of a mouse, would end the card
  document.addEventListener('touchend', event => { if (swallow && event.cancelable) event.preventDefault() }, { capture: true, passive: false })
  document.addEventListener('click', event => {
    if (swallow) { swallow = false; event.preventDefault(); event.stopImmediatePropagation(); return }
    const path = event.composedPath(), mark = markOf(event)
    if (!mark || path.slice(0, path.indexOf(mark)).some(node => node.matches?.(ACTS)) || acting(mark) || String(getSelection())) return
    show(mark, 'click')
  }, true)
  addEventListener('scroll', event => { if (!event.composedPath().includes(card)) place() }, true)
  addEventListener('blur', leave)

  return window.fuseloomHelp = { register, take, all, show, get has() { return texts } }
}
