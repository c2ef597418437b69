/** Plots of all runs that are linked in the browser, a ranking, and what each choice explains; a click loads a run. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const LEAST_WIDTH = 250, PADDING = 24, TOOLS = 34
  const state = { chosen: '', hot: null, x: 'bytes', y: 'cycles', log: true, by: 'family', order: ['cycles', 1], text: '', right: false, same: false }
  let looked = {}
  let room = { width: 900, height: 400 }  // asked for when it changes only: asking lays everything out
  let byId = new Map()
  let alike = new Map()  // models and machines of the runs of one name

  /** What tells a run from others of its name: its model, or its machine. */
  function apart(run) {
    const { models, machines } = alike.get(run.name) ?? { models: [], machines: [] }
    return models.size > 1 ? ` · ${run.model}` : machines.size > 1 ? ` · ${run.machine}` : ''
  }

  // What plots and tables ask of the panel ---------------------------------------------------------
  const panel = {
    get kinds() { return model.view.kinds },
    get problem() { return looked.problem },
    chosen: () => byId.get(state.chosen) || byId.get(looked.current) || panel.pinned(),
    pinned: () => byId.get(looked.pinned),
    current: run => run.id === looked.current,
    nameOf: run => `${run.name}${apart(run)}${looked.pinned === run.id ? ' · A' : ''}`,
    rank: run => (run.id === looked.current ? 0 : run.id === looked.pinned ? 1 : 2 + run.cycles / 1e18 + (run.key ? 1 : 0)),
    load(run) {
      state.chosen = run.id
      if (!model.alone) model.send_msg(run.key ? { kind: 'take', key: run.key } : { kind: 'recall', number: run.number })
      draw()
    },
    heat(id) {
      state.hot = id
      frame.classList.toggle('has-hot', !!id)
      for (const node of frame.querySelectorAll('[data-id]')) node.classList.toggle('hot', node.dataset.id === id)
    },
    tell(event, run, more) {
      tip.replaceChildren(...about(run, more))
      tip.hidden = false
      const box = tip.getBoundingClientRect(), at = event.target.getBoundingClientRect()
      const [x, y] = event.clientX === undefined || event.type === 'focus' ? [at.right, at.top] : [event.clientX, event.clientY]
      tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 6))}px`
      tip.style.top = `${Math.max(4, y + 16 + box.height > innerHeight ? y - box.height - 12 : y + 16)}px`
    },
    events: run => ({
      mouseenter: event => { panel.heat(run.id); panel.tell(event, run) },
      mouseleave: () => { panel.heat(null); tip.hidden = true },
      focus: event => { panel.heat(run.id); if (event.target.matches(':focus-visible')) panel.tell(event, run) },
      blur: () => { panel.heat(null); tip.hidden = true },
      click: () => panel.load(run),
    }),
    mark(run, x, y) {
      const g = s('g', { class: `mark${panel.current(run) ? ' current' : ''}${run.id === state.chosen ? ' chosen' : ''}${panel.pinned() === run ? ' pinned' : ''}`, role: 'button', 'data-id': run.id, 'aria-label': said(run), transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})`, on: panel.events(run) })
      g.append(s('circle', { class: 'grab', r: 12 }), s('circle', { class: 'ring', r: 11 }), ...sign(run, panel.kinds).filter(Boolean))
      return g
    },
    /** One tab stop per plot; arrow keys go through its runs from left to right, or downwards. */
    walk(svg, places) {
      const ways = [places, places].map((all, k) => [...all].sort((a, b) => k ? b.y - a.y : a.x - b.x).map(p => p.run.id))
      const nodes = new Map(places.map(p => [p.run.id, p.node]))
      for (const node of nodes.values()) node.setAttribute('tabindex', -1)
      const first = places.find(p => panel.current(p.run)) || places[0]
      if (first) first.node.setAttribute('tabindex', 0)
      svg.addEventListener('keydown', event => {
        const here = event.target.dataset?.id
        if (!here) return
        if (event.key === 'Enter' || event.key === ' ') panel.load(byId.get(here))
        else if (event.key === 'Escape') event.target.blur()
        else {
          const [way, step] = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 1], ArrowDown: [1, -1], Home: [0, -1e9], End: [0, 1e9] }[event.key] || []
          if (!step) return
          const list = ways[svg.dataset.plot === 'bars' ? 1 : way]
          const by = svg.dataset.plot === 'bars' && way ? -step : step  // bars stand one below the other
          const to = list[Math.min(Math.max(list.indexOf(here) + by, 0), list.length - 1)]
          nodes.get(here).setAttribute('tabindex', -1)
          nodes.get(to).setAttribute('tabindex', 0)
          nodes.get(to).focus()
        }
        event.preventDefault()
      })
    },
  }

  const said = r => `${panel.nameOf(r)}: ${full(r.cycles)} cycles simulated, ${known(r.estimated) ? `${full(Math.round(r.estimated))} estimated` : 'not estimated'}, ${r.ok === null ? 'not checked' : r.ok ? 'result right' : 'result wrong'}. Load this configuration.`

  function about(r, more) {
    const line = (name, text, key) => h('div', { 'data-help': key }, h('span', { class: 'quiet' }, `${name} `), text)
    const off = known(r.estimated) && r.cycles ? ` (${((r.estimated / r.cycles - 1) * 100).toFixed(1).replace('-', '−')} %)` : ''
    return [
      h('b', {}, panel.nameOf(r)), more && h('div', { 'data-help': 'node.busy' }, more), line('', `${(panel.kinds[r.kind] || panel.kinds.own).text}, ${r.model}, machine ${r.machine}`),
      line('simulated', `${full(r.cycles)} cycles`, 'cycles.simulated'), line('estimated', known(r.estimated) ? `${full(Math.round(r.estimated))} cycles${off}` : 'not known', 'cycles.estimated'), line('', sure(r), 'cycles.interval'),
      known(r.flops) && line('work', `${full(Math.round(r.flops))} FLOPs, ${full(Math.round(r.bytes))} bytes asked for${r.moved ? `, ${full(r.moved)} bytes moved by the memory` : ''}`, 'bytes'),
      known(r.energy) && line('energy', `${full(1e9 * r.energy)} nJ`, 'energy'),
      known(r.area) ? line('area', `${full(r.area)} LUTs of hardware`, 'area') : r.no_area && line('area', r.no_area, 'area'),
      known(r.on_chip) && line('on chip', `${full(r.on_chip)} bytes${r.bounded ? '' : ' held, channels not counted'}`, 'on_chip'),
      line('result', r.check || 'not compared with the dense reference', 'error.result'), r.engine && line('by', `another engine: ${r.engine}`),
    ].filter(Boolean)
  }

  // The frame --------------------------------------------------------------------------------------
  const search = h('input', { type: 'search', placeholder: 'Filter: model, machine, name…', 'aria-label': 'Filter runs by text', on: { input: () => { state.text = search.value; draw() } } })
  const flag = (name, text, title) => h('label', { class: 'flag', title }, h('input', { type: 'checkbox', checked: state[name], on: { change: event => { state[name] = event.target.checked; draw() } } }), text)
  const axis = name => h('select', { 'aria-label': `Pareto, ${name} axis`, on: { change: event => { state[name] = event.target.value; draw() } } }, Object.entries(FIGURES).map(([key, f]) => h('option', { value: key, selected: state[name] === key }, f.short)))
  const by = h('select', { 'aria-label': 'Bars by', on: { change: event => { state.by = event.target.value; draw() } } }, h('option', { value: 'family' }, 'by family'), h('option', { value: 'region' }, 'by region'))
  const told = h('span', { class: 'quiet told', role: 'status', 'data-help': 'count.runs' })
  const goTo = (text, part) => h('button', { class: 'button small', on: { click: () => part().scrollIntoView({ block: 'start' }) } }, text)
  const exporting = !sent.alone && h('button', { class: 'button small', 'data-action': 'export', title: 'The runs that are shown, as one HTML page that opens from disk', on: { click: ask } }, 'Export')
  let waiting = 0
  function ask() {
    told.textContent = 'Making the page…'
    clearTimeout(waiting)
    waiting = setTimeout(() => { told.textContent = 'No answer: this page has no session behind it, or its server is busy.' }, 15_000)
    model.send_msg({ kind: 'export', runs: filtered().map(r => r.id) })
  }
  const svgs = h('button', { class: 'button small', 'data-action': 'svg', title: 'The plots that are shown, as one drawing', on: { click: () => saveAs(drawing(shownPlots, frame), 'fuseloom-costs.svg', 'image/svg+xml') } }, 'SVG')
  const pdf = h('button', { class: 'button small', 'data-action': 'pdf', title: 'The plots that are shown, printed on one sheet: choose "Save as PDF" as the printer', on: { click: () => printed(drawing(shownPlots, frame), 'fuseloom-costs') } }, 'PDF')
  const runPresets = (look, action) => !sent.alone && h('button', { class: `button ${look}`, 'data-action': action, title: 'Simulate every preset of this model, one after the other; Cancel beside Run ends it', on: { click: every } }, 'Run presets')
  const every = () => model.send_msg({ kind: 'presets' })
  window.addEventListener('fuseloom:presets', () => { if (el.isConnected && !sent.alone) every() })
  const legend = h('div', { class: 'legend' })
  const bar = h('div', { class: 'tools' }, search, flag('right', 'right only', 'Leave out runs whose result is wrong or was not checked'), flag('same', 'this problem only', 'Runs of the program, data and machine that are shown'), flag('log', 'log axes', 'Logarithmic axes'), told,
    h('span', { class: 'ends' }, runPresets('small', 'presets-again'), goTo('Ranking', () => table), goTo('Importance', () => importance), exporting, svgs, pdf))
  const plots = h('div', { class: 'plots' })
  const table = h('div', { class: 'ranking' })
  const importance = h('div', { class: 'shares' })
  const rest = h('div', { class: 'rest' }, table, importance)
  const empty = h('div', { class: 'empty' }, h('p', { class: 'quiet' }, 'No run yet. Press Run; each configuration you simulate is kept here, in the plots and in the table.'), runPresets('primary', 'presets'))
  const series = h('p', { class: 'quiet series', role: 'status' })
  const trouble = h('p', { class: 'trouble', role: 'status' })
  const frame = h('div', { class: 'costs' }, bar, trouble, series, empty, plots, legend, rest)
  const tip = h('div', { class: 'tip', 'aria-hidden': 'true' })
  tip.hidden = true
  el.append(frame, tip)
  let shownPlots = []

  function filtered() {
    const words = state.text.toLowerCase().split(/\s+/).filter(Boolean)
    return model.view.runs.filter(r => (!state.right || r.ok === true) && (!state.same || r.problem === looked.problem)
      && words.every(w => `${r.name} ${r.model} ${r.machine} ${r.kind} ${(panel.kinds[r.kind] || {}).text} ${r.schedule}`.toLowerCase().includes(w)))
  }

  const KINDS = [
    ['estimate', 'Estimate and simulation', 'band: ±10 %', (runs, at) => estimatePlot(panel, runs, at, state.log)],
    ['pareto', 'Pareto', null, (runs, at) => frontPlot(panel, runs, at, state.log, 'pareto', state.x, state.y, 'Pareto front')],
    ['roofline', 'Roofline', null, (runs, at) => rooflinePlot(panel, runs, at, state.log)],
    ['bars', 'Where nodes work', null, (runs, at) => barsPlot(panel, runs, at, state.by)],
    ['memory', 'Memory on chip and traffic', null, (runs, at) => frontPlot(panel, runs, at, state.log, 'memory', 'bytes', 'on_chip', 'Memory on chip and traffic')],
  ]
  const extra = { pareto: h('span', { class: 'axes' }, axis('y'), 'by', axis('x')), bars: by }
  const NOTHING = { estimate: 'None of these runs was estimated.', pareto: 'Not known for these runs.', memory: 'Not known for these runs: only runs of this page keep what the estimate says of memory on chip.', roofline: 'Not known for these runs.', bars: 'Not known for these runs: kept runs have no figures of nodes.' }

  function note(name, made) {
    const chosen = panel.chosen()
    if (name === 'roofline') return chosen?.bandwidth ? `roofs of ${chosen.name} on ${chosen.machine}` : chosen?.peak ? `roof of ${chosen.name}; no memory, no slope` : ''
    if (name === 'bars') return [made.more && `${made.more} more in the table`, made.unknown && `${made.unknown} without figures of nodes`].filter(Boolean).join(', ')
    return ''
  }

  function drawPlots(runs) {
    const { width } = room
    const columns = Math.max(1, Math.min(KINDS.length, Math.floor((width + 12) / (LEAST_WIDTH + 12))))
    const height = Math.max(148, Math.min(400, room.height - Math.max(TOOLS, plots.offsetTop) - 44))
    const at = { width: Math.floor((width - 12 * (columns - 1) - 2) / columns), height }
    plots.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`
    let unnamed = 0
    shownPlots = []
    plots.replaceChildren(...KINDS.map(([name, title, band, make]) => {
      const made = make(runs, at)
      unnamed += made.unnamed
      if (made.shown) shownPlots.push({ title, svg: made.svg })
      const told = [band, note(name, made), made.gone && `${made.gone} with a 0 left out: only linear axes have it`].filter(Boolean).join(', ')
      return h('figure', { 'data-figure': name }, h('figcaption', {}, h('b', {}, title), extra[name], told && h('span', { class: 'quiet', 'data-help': { estimate: 'error.estimate', roofline: 'flops.peak' }[name], title: told }, told)),
        made.shown ? made.svg : h('p', { class: 'quiet nothing', style: `height:${height}px` }, NOTHING[name]))
    }))
    // where the last row has room beside its plots, the ranking stands there
    const left = KINDS.length % columns
    const beside = left && columns - left >= 3
    table.style.gridColumn = beside ? `span ${columns - left}` : ''
    if (beside) plots.append(table)
    else rest.prepend(table)
    const kinds = Object.entries(panel.kinds).filter(([key]) => runs.some(r => r.kind === key))
    const hollow = runs.some(r => r.ok !== true)
    const rough = runs.some(r => known(r.estimated) && r.basis !== 'exact' && r.basis !== 'sampled')
    legend.replaceChildren(...(unnamed || hollow || rough ? [
      ...kinds.map(([, k]) => h('span', {}, h('span', { class: 'sign', style: `color:var(--${k.token})`, 'aria-hidden': 'true' }, k.sign), ` ${k.text}`)),
      hollow && h('span', {}, 'hollow: not checked; crossed: wrong'), rough && h('span', { 'data-help': 'cycles.interval' }, '≈ estimated from statistics alone; ? what the estimate rests on was not kept'),
      unnamed && h('span', {}, `${unnamed} names have no room; pointing at a mark tells them`),
    ].filter(Boolean) : []))
  }

  let pressed = false  // what is replaced between press and release would lose the click
  frame.addEventListener('pointerdown', event => { pressed = !!event.target.closest?.('[data-id]') })
  for (const end of ['pointerup', 'pointercancel']) document.addEventListener(end, () => {
    if (pressed) setTimeout(() => { pressed = false; draw() })
  })

  function focused() {
    const node = el.getRootNode().activeElement
    if (!node || !frame.contains(node)) return null
    const of = node.closest('[data-id]')
    if (of) return [of.closest('[data-plot]') ? `[data-plot=${of.closest('[data-plot]').dataset.plot}] [data-id="${CSS.escape(of.dataset.id)}"]` : `tr[data-id="${CSS.escape(of.dataset.id)}"] button`]
    return node.dataset.sort ? [`[data-sort=${node.dataset.sort}]`] : null
  }

  function draw() {
    if (!there(model) || pressed) return
    const { runs, note, trouble: wrong, importance: shares } = model.view
    byId = new Map(runs.map(r => [r.id, r]))
    alike = new Map()
    for (const r of runs) {
      if (!alike.has(r.name)) alike.set(r.name, { models: new Set(), machines: new Set() })
      alike.get(r.name).models.add(r.model)
      alike.get(r.name).machines.add(r.machine)
    }
    const again = focused()
    const held = document.activeElement && el.getRootNode().activeElement === search
    const shown = filtered()
    const none = !runs.length
    for (const part of [bar, plots, legend, rest]) part.hidden = none
    empty.hidden = !none
    trouble.textContent = wrong || ''
    trouble.hidden = !wrong
    tip.hidden = true
    tellSeries()
    if (none) return
    told.textContent = shown.length === runs.length ? `${runs.length} run${runs.length === 1 ? '' : 's'}` : `${shown.length} of ${runs.length} runs`
    drawPlots(shown)
    table.replaceChildren(...[note && h('p', { class: 'quiet' }, note), shown.length ? rankingTable(panel, shown, state.order, order => { state.order = order; draw() }) : h('p', { class: 'quiet' }, 'No run passes the filters.'),
      runs.every(r => !r.speedup) && h('p', { class: 'quiet' }, 'Run the preset unfused to see speed-ups.')].filter(Boolean))
    importance.replaceChildren(...(shares ? [importanceTable(shares)] : []))
    if (state.hot) panel.heat(byId.has(state.hot) ? state.hot : null)
    if (again) frame.querySelector(again[0])?.focus()
    else if (held) search.focus()
  }

  /** How far the runs of all presets are. */
  function tellSeries() {
    series.textContent = model.presets || ''
    series.hidden = !model.presets
  }

  function follow() {
    const before = looked.current
    looked = model.look ? JSON.parse(model.look) : {}
    if (looked.current !== before) state.chosen = ''
    draw()
  }

  model.on('view', draw)
  model.on('look', follow)
  model.on('presets', tellSeries)
  model.on('status', () => { if (model.status?.ok === false) { state.chosen = ''; draw() } })
  model.on('msg:custom', message => {
    if (message?.kind !== 'export') return
    clearTimeout(waiting)
    if (message.text) saveAs(message.text, 'fuseloom-costs.html', 'text/html')
    told.textContent = message.refused ? `✕ ${message.refused}` : 'The page was saved.'
  })
  new ResizeObserver(() => {
    const { clientWidth: wide, clientHeight: height } = frame
    if (!wide || (wide - PADDING === room.width && height === room.height)) return
    room = { width: wide - PADDING, height }
    draw()
  }).observe(frame)
  follow()
}
