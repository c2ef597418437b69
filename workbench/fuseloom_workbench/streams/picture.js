const SVG = 'http://www.w3.org/2000/svg'
/** An SVG element with attributes. */
function s(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value)
  node.append(...children)
  return node
}

/** The way along an edge, by sampled points: asking the path itself for every frame is slow. */
class Route {
  constructor(path) {
    this.length = path.getTotalLength()
    const count = Math.max(2, Math.ceil(this.length / 6))
    this.points = Array.from({ length: count + 1 }, (_, k) => path.getPointAtLength(this.length * k / count))
  }
  at(length) {
    const x = Math.min(1, Math.max(0, length / this.length)) * (this.points.length - 1)
    const k = Math.min(this.points.length - 2, Math.floor(x))
    const [a, b, u] = [this.points[k], this.points[k + 1], x - k]
    return [a.x + (b.x - a.x) * u, a.y + (b.y - a.y) * u]
  }
}

/** Units that a token takes along its edge. */
const width = token => 22 + 6 * Math.max(0, small(token.text).length - 1.5)

/** A graph's drawing that can be moved about, with tokens on its edges. */
class Picture {
  constructor(box, { select }) {
    Object.assign(this, { box, select, port: null, size: [1, 1], view: { x: 0, y: 0, k: 1 }, nodes: new Map(), ways: new Map(), kinds: [], shown: new Map(), from: new Map(), to: new Map(), frame: 0, readable: 0.8 })
    this.map = s('svg', { class: 'map', 'aria-hidden': 'true' })
    this.map.addEventListener('pointerdown', down => {
      down.stopPropagation()
      this.map.setPointerCapture(down.pointerId)
      this.map.onpointermove = event => this.jump(event)
      this.map.onpointerup = this.map.onpointercancel = () => { this.map.onpointermove = null }
      this.jump(down)
    })
    lights(box)
    let start = null
    draggable(box, {
      start: () => { start = { ...this.view }; box.classList.add('panning') },
      move: (_, dx, dy) => { this.view.x = start.x + dx; this.view.y = start.y + dy; this.apply() },
      end: () => box.classList.remove('panning'),
    })
    box.addEventListener('click', event => {
      if (box.dragged) return
      const key = event.target.closest?.('g.node')?.id
      if (key) this.select(Number(key.slice(1)))
    })
    box.addEventListener('wheel', event => {
      if (!(event.ctrlKey || event.metaKey || box.matches(':focus'))) return  // the page may scroll
      event.preventDefault()
      const r = box.getBoundingClientRect()
      this.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - r.left, event.clientY - r.top)
    }, { passive: false })
  }

  /** Mount a drawing; false while the pane has no size to measure it in. */
  load(view) {
    if (!this.box.clientWidth) return false
    const parsed = new DOMParser().parseFromString(view.svg, 'image/svg+xml').documentElement
    this.size = parsed.getAttribute('viewBox').split(/\s+/).map(Number).slice(2)
    this.port = s('g')
    this.port.append(...parsed.childNodes)
    this.layer = s('g', { class: 'tokens' })
    this.port.append(this.layer)
    this.box.replaceChildren(s('svg', { class: 'drawing', 'aria-hidden': 'true' }, this.port), this.map)
    this.port.querySelectorAll('title').forEach(t => t.remove())
    const inverse = this.port.getScreenCTM().inverse()
    this.nodes = new Map()
    for (const g of this.port.querySelectorAll('g.node')) {
      const r = g.getBoundingClientRect()
      const [a, b] = [new DOMPoint(r.left, r.top), new DOMPoint(r.right, r.bottom)].map(p => p.matrixTransform(inverse))
      g.classList.add(`f-${view.colours[g.id]}`)
      g.dataset.statement = view.statements[Number(g.id.slice(1))] ?? ''
      this.nodes.set(Number(g.id.slice(1)), { g, x: a.x, y: a.y, w: b.x - a.x, h: b.y - a.y })
    }
    this.ways = new Map()
    const moved = this.port.querySelector('g.graph')?.transform.baseVal.consolidate()?.matrix
    if (moved) this.layer.setAttribute('transform', `matrix(${moved.a} ${moved.b} ${moved.c} ${moved.d} ${moved.e} ${moved.f})`)
    for (const [id] of view.edges) {
      const path = this.port.querySelector(`#${CSS.escape(id)} path`)
      if (path) this.ways.set(Number(id.slice(1)), new Route(path))
    }
    this.shown = new Map()
    this.drawMap()
    this.home()
    return true
  }

  // Looking ---------------------------------------------------------------------------------
  get pane() { return [this.box.clientWidth || 800, this.box.clientHeight || 300] }

  apply() {
    if (!this.port) return
    const [w, hh] = this.pane
    const clamp = (at, drawn, free) => Math.min(free - 60, Math.max(60 - drawn, at))  // never out of sight
    this.view.x = clamp(this.view.x, this.size[0] * this.view.k, w)
    this.view.y = clamp(this.view.y, this.size[1] * this.view.k, hh)
    const { x, y, k } = this.view
    this.port.setAttribute('transform', `translate(${x} ${y}) scale(${k})`)
    const seen = this.map.querySelector('.seen')
    if (!seen) return
    for (const [name, value] of Object.entries({ x: -x / k, y: -y / k, width: w / k, height: hh / k })) seen.setAttribute(name, value)
    this.map.classList.toggle('needless', this.size[0] * k <= w && this.size[1] * k <= hh)
  }

  /** All nodes, small, with a frame around what is in sight. */
  drawMap() {
    const [wide, tall] = this.size
    const shrink = Math.min(190 / wide, 64 / tall)
    this.map.setAttribute('viewBox', `0 0 ${wide} ${tall}`)
    this.map.style.width = `${Math.max(40, wide * shrink)}px`
    this.map.style.height = `${Math.max(16, tall * shrink)}px`
    const dots = [...this.nodes].map(([k, n]) => s('rect', { class: 'dot', 'data-node': k, x: n.x, y: n.y, width: n.w, height: n.h }))
    this.map.replaceChildren(...dots, s('rect', { class: 'seen' }))
  }

  /** Look at where the pointer is on the small map. */
  jump(event) {
    const r = this.map.getBoundingClientRect(), [w, hh] = this.pane
    this.view.x = w / 2 - (event.clientX - r.left) / r.width * this.size[0] * this.view.k
    this.view.y = hh / 2 - (event.clientY - r.top) / r.height * this.size[1] * this.view.k
    this.apply()
  }

  fit() {
    const [w, hh] = this.pane
    const k = this.view.k = Math.min((w - 16) / this.size[0], (hh - 16) / this.size[1], 1.7)
    this.view.x = (w - this.size[0] * k) / 2
    this.view.y = (hh - this.size[1] * k) / 2
    this.apply()
  }

  /** The whole graph if it can be read then; else a readable size, around the selected node. */
  home() {
    this.fit()
    if (this.view.k >= this.readable) return
    const first = this.nodes.has(this.selected) ? this.selected : [...this.nodes].sort(([, a], [, b]) => a.x - b.x)[0]?.[0]
    this.centre(first)
  }

  zoom(f, x, y) {
    const [w, hh] = this.pane
    const k = Math.min(4, Math.max(0.05, this.view.k * f))
    const [cx, cy] = [x ?? w / 2, y ?? hh / 2]
    this.view.x = cx - (cx - this.view.x) * k / this.view.k
    this.view.y = cy - (cy - this.view.y) * k / this.view.k
    this.view.k = k
    this.apply()
  }

  centre(number) {
    const n = this.nodes.get(number)
    if (!n) return
    const [w, hh] = this.pane
    const k = this.view.k = Math.max(this.view.k, this.readable)
    const along = (at, drawn, free) => drawn * k <= free ? (free - drawn * k) / 2 : Math.min(12, Math.max(free - drawn * k - 12, free / 2 - at * k))
    this.view.x = along(n.x + n.w / 2, this.size[0], w)
    this.view.y = along(n.y + n.h / 2, this.size[1], hh)
    this.apply()
  }

  /** Ring the selected node; one that is out of sight is brought into view. */
  mark(number, bring) {
    this.selected = number
    for (const [key, { g }] of this.nodes) g.classList.toggle('selected', key === number)
    this.map.querySelectorAll('.dot').forEach(dot => dot.classList.toggle('selected', Number(dot.dataset.node) === number))
    const n = this.nodes.get(number)
    if (!n || !bring) return
    const [w, hh] = this.pane
    const [x, y] = [this.view.x + (n.x + n.w / 2) * this.view.k, this.view.y + (n.y + n.h / 2) * this.view.k]
    if (x < 30 || y < 20 || x > w - 30 || y > hh - 20) this.centre(number)
  }

  /** What nodes do in a cycle: those that act are filled brighter. */
  acting(numbers) {
    for (const [key, { g }] of this.nodes) g.classList.toggle('acts', numbers.has(key))
  }

  // Tokens ----------------------------------------------------------------------------------
  /** Where tokens rest at the end of a cycle: stream:number -> token with its place. */
  places(channels, cycle, streams) {
    const found = new Map()
    this.more = new Map()
    channels.forEach((channel, k) => {
      const way = this.ways.get(k)
      if (!way) return
      const { tokens, depth } = channel.held(cycle, 6)
      let front = way.length - 7  // where the next one may end, before the arrow's head
      let drawn = 0
      for (const token of tokens) {
        const half = width(token) / 2 + 1
        const there = token.seen <= cycle ? Infinity : way.length * this.progress(token, cycle)
        const at = Math.min(front - half, there)
        // the last one that fits makes room for the number of those that do not
        if (drawn && at - half < (depth > drawn + 1 ? 22 : 0)) break
        found.set(`${k}:${token.number}`, { token, stream: k, kind: streams[k].kind, at: Math.max(at, Math.min(half, way.length / 2)) })
        front = at - half
        drawn++
      }
      if (depth > drawn) this.more.set(k, { hidden: depth - drawn, at: front - 12, aside: front < 24 })
    })
    return found
  }

  /** How far a token that cannot be seen yet has come, as a share of its way. */
  progress(token, cycle) {
    if (!Number.isFinite(token.seen)) return 0.3
    return Math.min(0.85, 0.5 * (cycle - token.put + 1) / Math.max(1, (token.seen - token.put) * 0.5 + 0.5))
  }

  /** Show the tokens of a cycle; with `duration` those of the cycle beside it move there. */
  show(channels, cycle, streams, duration = 0, forward = true) {
    cancelAnimationFrame(this.frame)
    const before = this.shown
    const now = this.places(channels, cycle, streams)
    const moves = []
    for (const [key, place] of now) {
      const old = before.get(key)
      const end = this.ways.get(place.stream).length
      place.mark = old?.mark || this.draw(place)
      const start = old ? old.at : forward ? 0 : end
      moves.push({ place, start, stop: place.at })
    }
    for (const [key, place] of before) {
      if (now.has(key)) continue
      const end = this.ways.get(place.stream)?.length
      const leaves = duration && end !== undefined && (forward ? place.token.taken <= cycle : place.token.put > cycle)
      if (leaves) moves.push({ place, start: place.at, stop: forward ? end + 6 : -4, gone: true })
      else place.mark.remove()
    }
    this.shown = now
    this.count()
    const put = u => {
      for (const { place, start, stop, gone } of moves) {
        const way = this.ways.get(place.stream)
        const [x, y] = way.at(start + (stop - start) * u)
        place.mark.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`)
        if (gone) place.mark.style.opacity = u > 0.7 ? (1 - u) / 0.3 : 1
      }
    }
    const clean = () => { put(1); for (const { place, gone } of moves) if (gone) place.mark.remove() }
    if (!duration) return clean()
    const began = performance.now()
    const frame = time => {
      const u = Math.min(1, Math.max(0, (time - began) / duration))
      put(1 - (1 - u) ** 2)
      if (u < 1) this.frame = requestAnimationFrame(frame)
      else clean()
    }
    // what an earlier move left half way is where it belongs when this one ends
    for (const mark of [...this.layer.querySelectorAll('.token')]) if (!moves.some(m => m.place.mark === mark)) mark.remove()
    put(0)
    this.frame = requestAnimationFrame(frame)
  }

  /** A token: its shape says the kind of stream, its line what sort of token it is. */
  draw({ token, kind }) {
    const text = small(token.text)
    const w = width(token) - (kind === 'val' ? 6 : kind === 'ref' ? 8 : 0)
    const shape = {
      crd: () => s('rect', { x: -w / 2, y: -8, width: w, height: 16, rx: 8 }),
      ref: () => s('polygon', { points: [[-w / 2 - 4, 0], [-w / 2 + 2, -8], [w / 2 - 2, -8], [w / 2 + 4, 0], [w / 2 - 2, 8], [-w / 2 + 2, 8]].join(' ') }),
      val: () => s('ellipse', { rx: w / 2 + 3, ry: 8.5 }),
      sig: () => s('rect', { x: -w / 2, y: -8, width: w, height: 16, rx: 1.5 }),
    }[kind]()
    const mark = s('g', { class: `token ${kind} ${sort(token.text)}` }, shape, s('text', { y: 3.7 }, text))
    this.layer.append(mark)
    return mark
  }

  /** How many tokens lie in channels that hold more than are drawn. */
  count() {
    this.layer.querySelectorAll('.count').forEach(e => e.remove())
    for (const [k, { hidden, at, aside }] of this.more) {
      const way = this.ways.get(k)
      const [x, y] = way.at(aside ? way.length / 2 : at)
      const text = `+${hidden.toLocaleString('en')}`
      const w = 7 + 5.6 * text.length
      this.layer.append(s('g', { class: 'count', transform: `translate(${x.toFixed(1)} ${(aside ? y - 16 : y).toFixed(1)})` },
        s('rect', { x: -w / 2, y: -6.5, width: w, height: 13, rx: 3 }), s('text', { y: 3.2 }, text)))
    }
  }
}
