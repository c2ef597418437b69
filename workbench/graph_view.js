/** A Graphviz drawing to move about in: pan, zoom, search, paths, heat, minimap. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const READABLE = 0.85
  const MEASURED = { busy: 'Heat: busy', stall_input: 'Heat: waiting for input', stall_output: 'Heat: waiting for space', stall_memory: 'Heat: waiting for memory', path: 'Heat: critical path' }
  const NS = 'http://www.w3.org/2000/svg'
  const bar = h('div', { class: 'bar', role: 'toolbar', 'aria-label': 'Graph' })
  const box = h('div', { class: 'box', tabindex: 0, role: 'application', 'aria-label': 'Dataflow graph. Arrow keys pan, plus and minus zoom, 0 fits, n and p go from node to node.' })
  const map = document.createElementNS(NS, 'svg')
  const legend = h('div', { class: 'legend' })
  const said = h('div', { class: 'said', role: 'status', 'aria-live': 'polite' })
  map.classList.add('map')
  map.setAttribute('aria-hidden', 'true')
  el.append(bar, box, legend, said)

  let port = null                 // the group that is panned and zoomed
  let size = [1, 1]               // of the whole drawing, in its own units
  let view = { x: 0, y: 0, k: 1 }
  let nodes = new Map()           // key -> { g, shapes, x, y, w, h }
  let into = new Map()
  let outof = new Map()
  let mode = 'none'
  let shown = null
  let waiting = false             // a picture came while the pane was hidden

  // Toolbar -----------------------------------------------------------------------------------
  const search = h('input', { type: 'search', placeholder: 'Find a node…', 'aria-label': 'Find a node', list: 'names', on: { keydown: event => { if (event.key === 'Enter') find() }, change: () => find() } })
  const names = h('datalist', { id: 'names' })
  const heat = h('select', { 'aria-label': 'Colour by', on: { change: () => { mode = heat.value; paint() } } },
    h('option', { value: 'none' }, 'Colour: kind'), h('option', { value: 'expected' }, 'Heat: estimated cycles'), Object.entries(MEASURED).map(([value, text]) => h('option', { value }, text)))
  const trail = h('input', { type: 'checkbox', checked: true, on: { change: () => critical() } })
  const trailLabel = h('label', { title: 'Outline what determines the last cycle' }, trail, ' critical path')
  const frames = h('input', { type: 'checkbox', on: { change: () => model.send_msg({ kind: 'clusters', on: frames.checked }) } })
  const turn = h('button', { class: 'button', title: 'Left to right, or top to bottom', on: { click: () => model.send_msg({ kind: 'direction', to: model.direction === 'LR' ? 'TB' : 'LR' }) } }, '⤡ Turn')
  const tool = (text, label, f) => h('button', { class: 'button', 'aria-label': label, title: label, on: { click: f } }, text)
  bar.append(search, names, heat, h('label', {}, frames, ' frame table columns'), trailLabel, turn,
    tool('−', 'Zoom out', () => zoom(1 / 1.25)), tool('+', 'Zoom in', () => zoom(1.25)), tool('Fit', 'Fit the whole graph', fit), tool('1:1', 'Readable size', () => home()),
    h('span', { class: 'hint' }, 'drag to pan · Ctrl+wheel zooms · click a node for its path'))

  function find() {
    const wanted = search.value.trim().toLowerCase()
    if (!wanted) return
    const hits = Object.entries(model.view.labels || {}).filter(([, label]) => label.toLowerCase().includes(wanted))
    const exact = hits.find(([, label]) => label.toLowerCase() === wanted) || hits[0]
    said.textContent = exact ? `${hits.length} node${hits.length === 1 ? '' : 's'} found` : `no node is called ${search.value}`
    if (exact) go(exact[0])
  }

  function go(key) {
    model.send_msg({ kind: 'select', node: key })
    centre(key)
  }

  // Picture -----------------------------------------------------------------------------------
  function load() {
    const v = model.view
    nodes = new Map(); into = new Map(); outof = new Map()
    box.replaceChildren()
    if (!v.svg) {
      box.append(h('div', { class: 'empty' }, v.problem || 'drawing the graph…'))
      return
    }
    waiting = !box.clientWidth  // without a size there are no positions to measure
    if (waiting) return
    const parsed = new DOMParser().parseFromString(v.svg, 'image/svg+xml').documentElement
    const [, , w, hh] = parsed.getAttribute('viewBox').split(/\s+/).map(Number)
    size = [w, hh]
    const svg = document.createElementNS(NS, 'svg')
    svg.classList.add('picture')
    port = document.createElementNS(NS, 'g')
    port.append(...parsed.childNodes)
    svg.append(port)
    box.append(svg, map)
    port.querySelectorAll('title').forEach(t => t.remove())
    const inverse = port.getScreenCTM().inverse()
    for (const g of port.querySelectorAll('g.node')) {
      const r = g.getBoundingClientRect()
      const a = new DOMPoint(r.left, r.top).matrixTransform(inverse)
      const b = new DOMPoint(r.right, r.bottom).matrixTransform(inverse)
      const shapes = [...g.querySelectorAll('path, polygon, ellipse')].map(s => [s, s.getAttribute('fill')])
      nodes.set(g.id, { g, shapes, x: a.x, y: a.y, w: b.x - a.x, h: b.y - a.y })
    }
    for (const [id, from, to] of v.edges) {
      if (!outof.has(from)) outof.set(from, [])
      if (!into.has(to)) into.set(to, [])
      outof.get(from).push([to, id]); into.get(to).push([from, id])
    }
    names.replaceChildren(...[...new Set(Object.values(v.labels))].map(label => h('option', { value: label })))
    frames.checked = v.clusters
    drawMap()
    const place = v.name + v.direction
    if (shown === place) apply()
    else home()
    shown = place
    paint(); critical(); path()
  }

  const pane = () => [box.clientWidth || 800, box.clientHeight || 400]

  function apply() {
    if (!port) return
    const [w, hh] = pane()
    const clamp = (at, drawn, free) => Math.min(free - 60, Math.max(60 - drawn, at))  // never out of sight
    view.x = clamp(view.x, size[0] * view.k, w)
    view.y = clamp(view.y, size[1] * view.k, hh)
    port.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.k})`)
    const seen = map.querySelector('.seen')
    if (seen) {
      for (const [name, value] of Object.entries({ x: -view.x / view.k, y: -view.y / view.k, width: w / view.k, height: hh / view.k })) seen.setAttribute(name, value)
      map.classList.toggle('needless', size[0] * view.k <= w && size[1] * view.k <= hh)
    }
  }

  function fit() {
    const [w, hh] = pane()
    view.k = Math.min((w - 20) / size[0], (hh - 20) / size[1], 1.5)
    view.x = (w - size[0] * view.k) / 2
    view.y = (hh - size[1] * view.k) / 2
    apply()
  }

  /** A readable size, at the graph's beginning: long graphs fitted to the pane show nothing. */
  function home() {
    fit()
    if (view.k >= READABLE) return
    const [w, hh] = pane()
    view.k = READABLE
    view.x = size[0] * view.k > w ? 12 : (w - size[0] * view.k) / 2
    view.y = size[1] * view.k > hh && model.direction === 'TB' ? 12 : (hh - size[1] * view.k) / 2
    const first = [...nodes.values()].sort((a, b) => model.direction === 'LR' ? a.x - b.x : a.y - b.y)[0]
    if (first && model.direction === 'LR' && size[1] * view.k > hh) view.y = hh / 2 - (first.y + first.h / 2) * view.k
    apply()
  }

  function zoom(f, x, y) {
    const [w, hh] = pane()
    const k = Math.min(4, Math.max(0.04, view.k * f))
    const [cx, cy] = [x ?? w / 2, y ?? hh / 2]
    view.x = cx - (cx - view.x) * k / view.k
    view.y = cy - (cy - view.y) * k / view.k
    view.k = k
    apply()
  }

  function centre(key) {
    const n = nodes.get(key)
    if (!n) return
    const [w, hh] = pane()
    view.k = Math.max(view.k, READABLE)
    view.x = w / 2 - (n.x + n.w / 2) * view.k
    view.y = hh / 2 - (n.y + n.h / 2) * view.k
    apply()
  }

  function drawMap() {
    map.setAttribute('viewBox', `0 0 ${size[0]} ${size[1]}`)
    const shrink = Math.min(220 / size[0], 120 / size[1])
    map.style.width = `${Math.max(40, size[0] * shrink)}px`
    map.style.height = `${Math.max(24, size[1] * shrink)}px`
    const part = (name, n) => {
      const r = document.createElementNS(NS, 'rect')
      r.setAttribute('class', name)
      for (const [a, value] of Object.entries({ x: n.x, y: n.y, width: n.w, height: n.h })) r.setAttribute(a, value)
      return r
    }
    map.replaceChildren(...[...nodes.values()].map(n => part('dot', n)), part('seen', { x: 0, y: 0, w: 1, h: 1 }))
  }

  map.addEventListener('pointerdown', down => {
    down.stopPropagation()
    const jump = event => {
      const r = map.getBoundingClientRect(), [w, hh] = pane()
      view.x = w / 2 - (event.clientX - r.left) / r.width * size[0] * view.k
      view.y = hh / 2 - (event.clientY - r.top) / r.height * size[1] * view.k
      apply()
    }
    map.setPointerCapture(down.pointerId)
    map.onpointermove = jump
    map.onpointerup = map.onpointercancel = () => { map.onpointermove = null }
    jump(down)
  })

  // Colour and path ---------------------------------------------------------------------------
  /** From pale yellow to orange-red, light enough for dark text and even in lightness. */
  const ramp = share => `hsl(${Math.round(52 - 40 * share)} 95% ${Math.round(93 - 33 * share)}%)`

  function paint() {
    const known = kind => kind === 'path' ? model.critical.nodes || {} : model.heat[kind] || {}
    for (const [kind, text] of Object.entries(MEASURED)) {
      const option = heat.querySelector(`[value=${kind}]`)
      option.disabled = !Object.keys(known(kind)).length
      option.textContent = option.disabled ? `${text} (${kind === 'path' ? 'explain' : 'run'} first)` : text
    }
    if (mode in MEASURED && heat.querySelector(`[value=${mode}]`).disabled) { mode = heat.value = 'none'; return paint() }
    const shares = mode === 'none' ? null : known(mode)
    for (const [key, { g, shapes }] of nodes) {
      const copy = g.classList.contains('copy')
      for (const [shape, fill] of shapes)
        shape.setAttribute('fill', shares && !copy ? ramp(shares[key] || 0) : fill)
    }
    legend.replaceChildren(...(shares ? scale() : kinds()), ...streams())
  }

  const kinds = () => (model.view.legend || []).map(k => h('span', {}, h('i', { class: 'swatch', style: `background:${k.colour}` }), k.text))
  const scale = () => [h('span', {}, mode in MEASURED ? '0 %' : 'no cycles', ' ',
    h('i', { class: 'scale', style: `background:linear-gradient(90deg, ${[0, .25, .5, .75, 1].map(ramp).join(',')})` }),
    mode in MEASURED ? ' 100 % of the elapsed cycles' : ' most estimated cycles of a node')]
  const streams = () => [['crd', 'coordinates'], ['ref', 'references'], ['val', 'values'], ['sig', 'repeat signal']].map(([name, text]) =>
    h('span', { class: 'stream' }, h('i', { class: `line ${name}` }), text)).concat(!trail.disabled && trail.checked ? h('span', { class: 'stream' }, h('i', { class: 'line trail' }), 'critical path') : [])

  /** Outline the nodes and streams of the critical path. */
  function critical() {
    const { nodes: on = {}, edges = [] } = model.critical
    const there = Object.keys(on).length > 0
    trail.disabled = !there
    trailLabel.classList.toggle('off', !there)
    port?.querySelectorAll('.critical').forEach(e => e.classList.remove('critical'))
    if (!there || !trail.checked) return paint()
    for (const id of [...Object.keys(on), ...edges]) port?.querySelector(`#${CSS.escape(id)}`)?.classList.add('critical')
    paint()
  }

  function path() {
    box.querySelectorAll('.on, .selected').forEach(e => e.classList.remove('on', 'selected'))
    const key = model.selected
    port?.classList.toggle('dim', nodes.has(key))
    if (!nodes.has(key)) return
    const mark = id => port.querySelector(`#${CSS.escape(id)}`)?.classList.add('on')
    for (const along of [into, outof]) {
      const seen = new Set([key]), open = [key]
      while (open.length) for (const [next, edge] of along.get(open.pop()) || []) {
        mark(edge)
        if (!seen.has(next)) { seen.add(next); open.push(next) }
      }
      seen.forEach(mark)
    }
    nodes.get(key).g.classList.add('selected')
    const { x, y, w, h: tall } = nodes.get(key), [pw, ph] = pane()
    const [cx, cy] = [view.x + (x + w / 2) * view.k, view.y + (y + tall / 2) * view.k]
    if (cx < 0 || cy < 0 || cx > pw || cy > ph) centre(key)
  }

  // Pointer and keys --------------------------------------------------------------------------
  let from = null
  draggable(box, {
    start: () => { from = { ...view }; box.classList.add('panning') },
    move: (_, dx, dy) => { view.x = from.x + dx; view.y = from.y + dy; apply() },
    end: () => box.classList.remove('panning'),
  })
  box.addEventListener('click', event => {
    if (box.dragged) return
    box.focus({ preventScroll: true })
    model.send_msg({ kind: 'select', node: event.target.closest?.('g.node')?.id || '' })
  })
  box.addEventListener('wheel', event => {
    if (!(event.ctrlKey || event.metaKey || box.matches(':focus'))) return  // the page may scroll
    event.preventDefault()
    const r = box.getBoundingClientRect()
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - r.left, event.clientY - r.top)
  }, { passive: false })
  box.addEventListener('keydown', event => {
    const pan = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key]
    const order = [...nodes].filter(([key]) => key in (model.view.labels || {})).sort(([, a], [, b]) => a.x - b.x || a.y - b.y).map(([key]) => key)
    const step = { n: 1, p: -1 }[event.key]
    if (pan) { view.x += pan[0]; view.y += pan[1]; apply() }
    else if (event.key === '+' || event.key === '=') zoom(1.2)
    else if (event.key === '-') zoom(1 / 1.2)
    else if (event.key === '0') fit()
    else if (event.key === 'Escape') model.send_msg({ kind: 'select', node: '' })
    else if (step) {
      const key = order[(order.indexOf(model.selected) + step + order.length) % order.length]
      said.textContent = model.view.labels[key]
      go(key)
    } else return
    event.preventDefault()
  })

  model.on('view', load)
  model.on('heat', paint)
  model.on('critical', critical)
  model.on('selected', path)
  model.on('busy', () => box.classList.toggle('busy', model.busy))
  new ResizeObserver(() => { if (waiting && box.clientWidth) load(); else if (port && box.clientWidth) apply() }).observe(box)
  load()
}
