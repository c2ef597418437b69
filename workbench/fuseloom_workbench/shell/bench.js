/** One screen: a grid of panes with splitters between them; sizes, folds and the open tab stay in the browser. */
export function render({ model, el }) {
  const VERSION = 2
  const KEY = 'fuseloom:bench'
  const LOW = 800, LOWEST = 660  // pixels of height below which rows are narrower, and fewer
  // sizes in pixels: least and usual, the latter by the window
  const SIZES = {
    rail: { least: 160, usual: w => w < 1340 ? 184 : w < 1800 ? 212 : 240 },
    chain: { least: 96, usual: (w, t) => (t < LOW ? 108 : 138) + (overview ? (t < LOW ? 84 : 70) : 0) },
    middle: { least: 150, usual: (w, t) => t < LOWEST ? 172 : t < LOW ? (overview ? 227 : 250) : t < 1000 ? 292 : 330 },
    orders: { least: 180, usual: w => w < 1340 ? 228 : w < 1800 ? 252 : 300 },
    details: { least: 180, usual: w => w < 1340 ? 240 : w < 1800 ? 300 : 380 },
  }
  const LEAST_BOTTOM = 180
  const STEP = 16
  let overview = false  // whether the chain shows which kernel feeds which
  let whole = false     // whether the view below has the room of chain, table and what is beside it
  const state = { sizes: {}, folded: {}, tab: 0, ...read() }

  function read() {
    try {
      const kept = JSON.parse(localStorage.getItem(KEY))
      if (kept?.version !== VERSION) return {}
      const sizes = Object.fromEntries(Object.entries(kept.sizes || {}).filter(([name, size]) => name in SIZES && Number.isFinite(size)))
      const folded = Object.fromEntries(Object.entries(kept.folded || {}).filter(([, is]) => is === true))
      return { sizes, folded, tab: Number.isInteger(kept.tab) ? kept.tab : 0 }
    } catch { return {} }
  }

  function keep() {
    try { localStorage.setItem(KEY, JSON.stringify({ version: VERSION, ...state })) } catch { /* forbidden, or full */ }
  }

  // Panes ---------------------------------------------------------------------------------------
  const pane = (name, title, child, reads = false) => {
    const body = h('div', { class: 'body', tabindex: reads ? 0 : null }, child)  // text alone is scrolled by keys
    const fold = h('button', { class: 'fold', 'data-fold': name, on: { click: () => toggle(name) } })
    const head = title && h('header', {}, h('h2', {}, title), fold)
    return h('section', { class: `pane ${name}`, 'data-pane': name, 'aria-label': title || name, tabindex: -1 }, head, body)
  }
  const child = name => model.get_child(name)
  const rail = pane('rail', null, child('rail'))
  const result = pane('result', null, child('result'))
  const chain = pane('chain', 'Fusion', child('chain'))
  const table = pane('table', null, child('table'))
  const orders = pane('orders', 'Orders', child('orders'))
  const details = pane('details', 'Details', child('details'), true)
  const views = model.get_child('tabs').map((view, k) => h('div', {
    class: 'view', role: 'tabpanel', id: `view${k}`, 'aria-label': model.titles[k],
  }, view))
  const tabs = model.titles.map((title, k) => h('button', {
    class: 'tab', role: 'tab', 'data-tab': k, title: `${title} (${k + 1})`,
    on: { click: () => open(k), keydown: event => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
      if (!step) return
      open((k + step + tabs.length) % tabs.length)
      tabs[state.tab].focus()
      event.preventDefault()
    } },
  }, title))
  const enlarge = h('button', { class: 'enlarge', 'data-action': 'enlarge', on: { click: () => fill(!whole) } })
  const bottom = h('section', { class: 'pane bottom', 'data-pane': 'bottom', 'aria-label': 'Views', tabindex: -1 },
    h('div', { class: 'line' }, h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' }, tabs), enlarge), h('div', { class: 'views' }, views))
  const middle = h('div', { class: 'middle' }, table, splitter('orders', 'v', -1), orders, splitter('details', 'v', -1), details)
  const main = h('main', {}, result, chain, splitter('chain', 'h', 1), middle, splitter('middle', 'h', 1), bottom)
  const app = h('div', { class: 'app' + (model.fullscreen ? ' full' : '') }, h('div', { class: 'top' }, child('top')), rail, splitter('rail', 'v', 1), main)
  el.append(app)

  function size(name) {
    const { least, usual } = SIZES[name]
    const room = app.getBoundingClientRect()
    return Math.max(least, state.sizes[name] ?? usual(room.width, room.height))
  }

  /** The most a pane may have, so that those beside it keep their least. */
  function most(name) {
    const { width, height } = app.getBoundingClientRect()
    if (name === 'rail') return Math.min(420, width / 3)
    if (name === 'orders' || name === 'details') return Math.max(180, (width - (state.folded.rail ? 0 : size('rail'))) / 2.6)
    const others = name === 'chain' ? size('middle') : (state.folded.chain ? 30 : size('chain'))
    return Math.max(SIZES[name].least, height - 40 - 73 - others - LEAST_BOTTOM)
  }

  function splitter(name, way, sign) {
    const across = way === 'v' ? 'width' : 'height'
    const node = h('div', {
      class: `splitter ${way}`, role: 'separator', tabindex: 0, 'data-splitter': name, 'aria-orientation': way === 'v' ? 'vertical' : 'horizontal',
      'aria-label': `Size of ${name}`, title: 'Drag, or arrow keys; double-click restores the usual size',
      on: {
        dblclick: () => { delete state.sizes[name]; apply() },
        keydown: event => {
          const step = { ArrowLeft: -STEP, ArrowUp: -STEP, ArrowRight: STEP, ArrowDown: STEP }[event.key]
          if (event.key === 'Home') delete state.sizes[name]
          else if (step) set(name, size(name) + sign * step)
          else return
          event.preventDefault()
          apply()
        },
      },
    })
    let from = 0
    draggable(node, {
      start: () => { from = size(name); node.classList.add('drag') },
      move: (_, dx, dy) => { set(name, from + sign * (across === 'width' ? dx : dy)); apply(false) },
      end: () => { node.classList.remove('drag'); apply() },
    })
    return node
  }

  function set(name, value) { state.sizes[name] = Math.round(Math.min(most(name), Math.max(SIZES[name].least, value))) }

  function toggle(name) {
    if (state.folded[name]) delete state.folded[name]
    else state.folded[name] = true
    apply()
  }

  /** Give the view below all the room, or give it back. */
  function fill(is) {
    whole = is
    apply(false)
  }

  function open(k) {
    state.tab = Math.min(Math.max(k, 0), tabs.length - 1)
    apply()
  }

  function apply(save = true) {
    const { width, height } = app.getBoundingClientRect()
    app.classList.toggle('stacked', width < 1000 || height < 560)
    app.classList.toggle('low', height < LOW)
    app.classList.toggle('whole', whole)
    enlarge.textContent = whole ? '⤡' : '⤢'
    enlarge.title = whole ? 'Bring chain and table back (E)' : 'Give this view all the room (E)'
    enlarge.setAttribute('aria-label', whole ? 'Restore the panes' : 'Enlarge the view')
    enlarge.setAttribute('aria-pressed', String(whole))
    for (const name of Object.keys(SIZES)) {
      const folded = state.folded[name]
      app.style.setProperty(`--${name}-size`, `${folded ? (name === 'rail' ? 0 : 30) : Math.min(size(name), most(name))}px`)
      app.classList.toggle(`no-${name}`, !!folded)
      const button = app.querySelector(`[data-fold=${name}]`)
      if (button) {
        const what = `${folded ? 'Show' : 'Fold'} ${name}`
        button.textContent = folded ? '▸' : '▾'
        button.title = what
        button.setAttribute('aria-label', what)
        button.setAttribute('aria-expanded', String(!folded))
      }
      app.querySelector(`[data-splitter=${name}]`)?.setAttribute('aria-valuenow', String(Math.round(size(name))))
    }
    tabs.forEach((tab, k) => {
      const on = k === Math.min(state.tab, tabs.length - 1)
      tab.setAttribute('aria-selected', String(on))
      tab.tabIndex = on ? 0 : -1
      views[k].hidden = !on
    })
    if (model.tab !== state.tab) model.tab = state.tab
    if (save) keep()
  }

  // Keys ------------------------------------------------------------------------------------------
  const PANES = [rail, result, chain, table, orders, details, bottom]

  const typing = node => !!node?.closest?.('input:not([type=range]), textarea, select, [contenteditable]')

  function within(part, node) {
    for (let at = node; at; at = at.parentNode || at.host) if (at === part) return true
    return false
  }

  function walk(step) {
    const here = PANES.findIndex(part => within(part, deepFocus()))
    for (let k = 1; k <= PANES.length; k++) {
      const part = PANES[(here + step * k + PANES.length * 2) % PANES.length]
      if (part.offsetWidth && part.offsetHeight) { enter(part); return }
    }
  }

  function enter(part) {
    part.focus({ preventScroll: false })
    part.classList.add('entered')
    part.addEventListener('blur', () => part.classList.remove('entered'), { once: true })
  }

  window.addEventListener('keydown', event => {
    if (!el.isConnected || event.defaultPrevented) return
    const held = event.ctrlKey || event.metaKey
    if (held && event.key === 'Enter') model.send_msg({ kind: 'run' })
    else if (event.key === 'F6') walk(event.shiftKey ? -1 : 1)
    else if (held && event.key.toLowerCase() === 'b') toggle('rail')
    else if (typing(deepFocus())) return
    else if (held && event.key.toLowerCase() === 'z') model.send_msg({ kind: event.shiftKey ? 'redo' : 'undo' })
    else if (!held && !event.altKey && event.key.toLowerCase() === 'e') fill(!whole)
    else if (!held && !event.altKey && /^[1-9]$/.test(event.key) && +event.key <= tabs.length) open(+event.key - 1)
    else return
    event.preventDefault()
  })
  app.addEventListener('fuseloom:rail', () => toggle('rail'))
  app.addEventListener('fuseloom:overview', event => { overview = event.detail; apply(false) })
  app.addEventListener('fuseloom:tab', event => open(model.titles.indexOf(event.detail)))
  app.addEventListener('fuseloom:offers', event => event.detail.push(
    { group: 'Command', name: 'Run', hint: 'or cancel, Ctrl+Enter', act: () => model.send_msg({ kind: 'run' }) },
    { group: 'Command', name: whole ? 'Restore the panes' : 'Enlarge the tab below', hint: 'E', act: () => fill(!whole) },
    ...model.titles.map((title, k) => ({ group: 'View', name: title, hint: k < 9 ? `key ${k + 1}` : '', act: () => { open(k); tabs[k].focus() } })),
    ...['rail', 'chain', 'orders', 'details'].map(name => ({ group: 'Pane', name: `${state.folded[name] ? 'Show' : 'Fold'} ${name}`, hint: '', act: () => toggle(name) }))))
  const tour = makeTour(app, model.titles, title => open(model.titles.indexOf(title)))
  app.addEventListener('fuseloom:tour', () => { fill(false); tour.start() })
  model.on('tab', () => { if (model.tab !== state.tab) open(model.tab) })

  new ResizeObserver(() => apply(false)).observe(app)
  new ResizeObserver(() => app.style.setProperty('--result-height', `${result.offsetHeight}px`)).observe(result)
  apply(false)
  document.documentElement.classList.add('fuseloom-ready')
  tour.offer()
}
