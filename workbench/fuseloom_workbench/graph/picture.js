/** A drawing of things at places, joined by lines, to pan and to zoom; what stays moves to its new place. */
function picture(box, changed) {
  const NS = 'http://www.w3.org/2000/svg'
  const READABLE = 0.85, FAR = 0.42, MOVES = 600
  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElementNS(NS, tag)
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== '') node.setAttribute(key, value)
    node.append(...children)
    return node
  }
  const groups = { frames: el('g'), lines: el('g'), things: el('g') }
  const port = el('g', {}, groups.frames, groups.lines, groups.things)
  const arrow = (name, css) => el('marker', { id: `tip-${name}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: 'userSpaceOnUse', orient: 'auto' }, el('path', { d: 'M0,0.8L8,4L0,7.2z', style: `fill:var(${css})` }))
  const tips = { crd: '--stream', ref: '--stream', val: '--value', sig: '--signal', mem: '--accent', many: '--value', critical: '--trail', new: '--good', missing: '--bad' }
  const svg = el('svg', { class: 'picture' }, el('defs', {}, ...Object.entries(tips).map(([name, css]) => arrow(name, css))), port)
  const map = h('div', { class: 'map', 'aria-hidden': 'true' })
  const dots = el('svg', { preserveAspectRatio: 'none' })
  const seen = h('div', { class: 'seen' })
  map.append(dots, seen)
  const me = { svg, map, port, things: new Map(), lines: [], into: new Map(), outof: new Map(), size: [1, 1], view: { x: 0, y: 0, k: 1 }, anchor: null, fitted: false }
  let known = new Map()          // what a thing is known by -> its element
  let asked = 0, scaled = 0

  const pane = () => [box.clientWidth || 800, box.clientHeight || 400]
  const letters = (text, x, y, name) => { const t = el('text', { x, y, class: name }); t.textContent = text; return t }
  const shortened = text => text.length > 26 ? `${text.slice(0, 25)}…` : text

  /** The inside of a node or of a box. */
  function shape(info, w, tall) {
    if (info.copy) return [el('circle', { cx: w / 2, cy: tall / 2, r: w / 2, class: 'shape' })]
    const sign = info.state === 'new' ? '+' : info.state === 'missing' ? '−' : ''
    if (info.members) return [el('rect', { x: 3, y: 3, width: w, height: tall, rx: 5, class: 'under' }), el('rect', { width: w, height: tall, rx: 5, class: 'shape' }),
      letters(`▸ ${info.name}`, 8, 18, 'name'), letters('', 8, 35, 'figures')]
    return [el('rect', { width: w, height: tall, rx: 5, class: 'shape' }), letters(info.glyph, 8, 17.5, 'glyph'), letters(shortened(info.label), 23, 17.5, 'name'),
      ...(sign ? [letters(sign, w - 14, 18, 'sign')] : [])]
  }

  function thing(key, info, [x, y, w, tall]) {
    const by = info.members ? key : info.same
    const look = JSON.stringify([info.label || info.name, info.token, info.glyph, info.state, w, tall])
    let g = known.get(by)
    if (!g) g = el('g', { tabindex: undefined })
    if (g.look !== look) {
      g.replaceChildren(...shape(info, w, tall))
      g.look = look
    }
    g.id = key
    g.dataset.statement = info.statements ?? info.statement ?? ''
    g.setAttribute('class', ['node', info.copy ? 'copy' : '', info.members ? 'folded' : '', info.state || ''].filter(Boolean).join(' '))
    g.setAttribute('role', 'img')
    g.setAttribute('aria-label', info.members ? `${info.name}, folded: ${info.members.length} nodes` : info.label)
    if (info.token) g.setAttribute('style', `--c:var(--${info.token});--f:var(--${info.token}-f)`)
    const at = { g, by, info, w, h: tall, x: x - w / 2, y: y - tall / 2 }
    g.setAttribute('transform', `translate(${at.x} ${at.y})`)
    return at
  }

  function line(l, number) {
    const path = el('path', { d: l.path, class: ['edge', l.kind, l.state].filter(Boolean).join(' '), id: l.of.length === 1 ? l.of[0] : `b${number}`, 'marker-end': `url(#tip-${l.state || l.kind})` })
    if (l.of.length > 1) path.style.strokeWidth = Math.min(6, 1.2 + Math.log2(l.of.length) * 0.8)
    return path
  }

  /** Show another drawing; `jump` if it has nothing to do with the one before. */
  me.load = (v, jump) => {
    const old = me.things, before = { ...me.view }
    me.things = new Map(); me.into = new Map(); me.outof = new Map()
    me.size = v.size
    me.start = v.start
    const now = new Map()
    for (const [key, place] of Object.entries(v.places)) {
      const at = thing(key, v.boxes[key] || v.nodes[key], place)
      me.things.set(key, at)
      now.set(at.by, at.g)
    }
    groups.things.replaceChildren(...[...me.things.values()].map(at => at.g))
    me.lines = v.lines.map((l, number) => ({ ...l, path: line(l, number) }))
    const counts = []
    for (const l of me.lines) {
      const [start, end] = l.ends
      if (!me.outof.has(start)) me.outof.set(start, [])
      if (!me.into.has(end)) me.into.set(end, [])
      me.outof.get(start).push([end, l]); me.into.get(end).push([start, l])
      l.path.line = l
      if (l.of.length > 1) counts.push(l)
    }
    groups.lines.replaceChildren(...me.lines.map(l => l.path))
    groups.frames.replaceChildren(...Object.entries(v.frames).map(([key, [x, y, w, tall]]) => {
      const g = el('g', { class: 'frame', id: `f-${key}` }, el('rect', { x, y, width: w, height: tall, rx: 6 }), letters(`▾ ${v.groups[key].name}`, x + 8, y + 15, 'title'))
      g.dataset.group = key
      return g
    }))
    if (!svg.isConnected) box.append(svg, map)
    for (const l of counts) {
      const middle = l.path.getPointAtLength(l.path.getTotalLength() / 2)
      groups.lines.append(letters(`${l.of.length}`, middle.x, middle.y - 3, 'count'))
    }
    drawMap()
    if (jump || !known.size) me.home()
    else settle(old, before, v)
    known = now
  }

  /** Nothing is left empty beside a drawing that has more, and one that fits is whole. */
  const within = (at, drawn, free) => drawn <= free ? (free - drawn) / 2 : Math.min(12, Math.max(free - drawn - 12, at))

  /** Keep in place what a user looks at, and let the rest move from where it was. */
  function settle(old, before, v) {
    const [w, hh] = pane()
    const was = new Map([...old.values()].map(at => [at.by, at]))
    let from = null, to = null
    if (me.anchor) {
      const frame = v.frames[me.anchor.group]
      const at = me.things.get(me.anchor.group)
      from = me.anchor.at
      to = at || (frame && { x: frame[0], y: frame[1], w: frame[2], h: frame[3] })
      if (to && !at) to = { ...to, w: Math.min(to.w, w / before.k - 40), h: Math.min(to.h, hh / before.k - 40) }
    }
    me.anchor = null
    if (!to) {
      const middle = [(w / 2 - before.x) / before.k, (hh / 2 - before.y) / before.k]
      const far = at => Math.hypot(at.x + at.w / 2 - middle[0], at.y + at.h / 2 - middle[1]) - (at.g.classList.contains('selected') ? 1e9 : 0)
      for (const at of me.things.values()) {
        const past = was.get(at.by)
        if (past && (!from || far(past) < far(from))) { from = past; to = at }
      }
    }
    if (from && to) {
      me.view.x = before.x + (from.x + from.w / 2 - to.x - to.w / 2) * before.k
      me.view.y = before.y + (from.y + from.h / 2 - to.y - to.h / 2) * before.k
    }
    me.view.x = within(me.view.x, me.size[0] * before.k, w)
    me.view.y = within(me.view.y, me.size[1] * before.k, hh)
    if (me.fitted) me.fit()
    else me.apply()
    if (me.fitted || me.things.size > MOVES || matchMedia('(prefers-reduced-motion: reduce)').matches || !box.clientWidth) return
    const [dx, dy] = [(before.x - me.view.x) / me.view.k, (before.y - me.view.y) / me.view.k]
    const timing = { duration: 200, easing: 'ease-out' }
    for (const at of me.things.values()) {
      const past = was.get(at.by)
      if (past) at.g.animate([{ transform: `translate(${past.x + dx}px, ${past.y + dy}px)` }, { transform: `translate(${at.x}px, ${at.y}px)` }], timing)
      else at.g.animate([{ opacity: 0 }, { opacity: 1 }], timing)
    }
    for (const part of [groups.lines, groups.frames]) part.animate([{ opacity: 0 }, { opacity: 0, offset: 0.5 }, { opacity: 1 }], timing)
  }

  // Pan and zoom --------------------------------------------------------------------------------
  me.apply = () => {
    if (!asked) asked = requestAnimationFrame(() => { asked = 0; moved() })
    const [w, hh] = pane(), view = me.view
    const clamp = (at, drawn, free) => Math.min(free - 60, Math.max(60 - drawn, at))  // never out of sight
    view.x = clamp(view.x, me.size[0] * view.k, w)
    view.y = clamp(view.y, me.size[1] * view.k, hh)
  }

  function moved() {
    const [w, hh] = pane(), { x, y, k } = me.view
    // a layer of its own is moved without being drawn again; only zooming draws
    svg.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`
    if (k !== scaled) port.setAttribute('transform', `scale(${scaled = k})`)
    svg.classList.toggle('far', k < FAR)
    map.classList.toggle('needless', x >= 0 && y >= 0 && x + me.size[0] * k <= w && y + me.size[1] * k <= hh)
    const scale = map.wide / me.size[0]
    seen.style.transform = `translate(${-x / k * scale}px, ${-y / k * scale}px)`
    seen.style.width = `${w / k * scale}px`
    seen.style.height = `${hh / k * scale}px`
    changed?.()
  }

  me.fit = () => {
    const [w, hh] = pane()
    const k = Math.min((w - 20) / me.size[0], (hh - 20) / me.size[1], 1.5)
    me.view = { k, x: (w - me.size[0] * k) / 2, y: (hh - me.size[1] * k) / 2 }
    me.apply()
    me.fitted = true
  }

  /** A readable size, at what is selected, where most is done, or at the graph's beginning: long graphs fitted to the pane show nothing. */
  me.home = () => {
    me.fit()
    if (me.view.k >= READABLE) return
    me.fitted = false
    const [w, hh] = pane()
    const all = [...me.things.values()]
    const root = all.reduce((a, b) => !a || b.x + b.y < a.x + a.y ? b : a, null)
    const at = all.find(thing => thing.g.classList.contains('selected')) ?? me.things.get(me.start) ?? root
    me.view = { k: READABLE, x: at === root ? 12 : w / 2 - (at.x + at.w / 2) * READABLE, y: hh / 2 - (at.y + at.h / 2) * READABLE }
    me.view.x = within(me.view.x, me.size[0] * READABLE, w)
    me.view.y = within(me.view.y, me.size[1] * READABLE, hh)
    me.apply()
  }

  me.zoom = (f, x, y) => {
    const [w, hh] = pane(), { view } = me
    const k = Math.min(4, Math.max(0.04, view.k * f))
    const [cx, cy] = [x ?? w / 2, y ?? hh / 2]
    me.fitted = false
    me.view = { k, x: cx - (cx - view.x) * k / view.k, y: cy - (cy - view.y) * k / view.k }
    me.apply()
  }

  me.centre = at => {
    const [w, hh] = pane()
    const k = Math.max(me.view.k, READABLE)
    me.view = { k, x: w / 2 - (at.x + at.w / 2) * k, y: hh / 2 - (at.y + at.h / 2) * k }
    me.apply()
  }

  /** Bring a thing into view, if it is not. */
  me.reveal = at => {
    const [w, hh] = pane(), { x, y, k } = me.view
    const [cx, cy] = [x + (at.x + at.w / 2) * k, y + (at.y + at.h / 2) * k]
    if (cx < 20 || cy < 20 || cx > w - 20 || cy > hh - 20) me.centre(at)
  }

  // Minimap --------------------------------------------------------------------------------------
  function drawMap() {
    const shrink = Math.min(220 / me.size[0], 110 / me.size[1])
    map.wide = Math.max(24, me.size[0] * shrink)
    map.style.width = `${map.wide}px`
    map.style.height = `${Math.max(12, map.wide * me.size[1] / me.size[0])}px`
    dots.setAttribute('viewBox', `0 0 ${me.size[0]} ${me.size[1]}`)
    const least = 1.6 / shrink
    dots.replaceChildren(...[...me.things.values()].map(at => el('rect', { x: at.x, y: at.y, width: Math.max(at.w, least), height: Math.max(at.h, least) })))
    me.marks = [...dots.children]
  }

  map.addEventListener('pointerdown', down => {
    down.stopPropagation()
    const jump = event => {
      const r = map.getBoundingClientRect(), [w, hh] = pane()
      me.view.x = w / 2 - (event.clientX - r.left) / r.width * me.size[0] * me.view.k
      me.view.y = hh / 2 - (event.clientY - r.top) / r.height * me.size[1] * me.view.k
      me.apply()
    }
    map.setPointerCapture(down.pointerId)
    map.onpointermove = jump
    map.onpointerup = map.onpointercancel = () => { map.onpointermove = null }
    jump(down)
  })
  map.addEventListener('click', event => event.stopPropagation())

  let from = null
  draggable(box, {
    start: () => { me.fitted = false; from = { ...me.view }; box.classList.add('panning') },
    move: (_, dx, dy) => { me.view.x = from.x + dx; me.view.y = from.y + dy; me.apply() },
    end: () => box.classList.remove('panning'),
  })
  box.addEventListener('wheel', event => {
    if (!(event.ctrlKey || event.metaKey || box.matches(':focus'))) return  // the page may scroll
    event.preventDefault()
    const r = box.getBoundingClientRect()
    me.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - r.left, event.clientY - r.top)
  }, { passive: false })

  /** The next thing from here: along lines with `along`, else the nearest on that side. */
  me.step = (key, side, direction) => {
    const at = me.things.get(key)
    const flow = direction === 'LR' ? { ArrowLeft: me.into, ArrowRight: me.outof }[side] : { ArrowUp: me.into, ArrowDown: me.outof }[side]
    const middle = t => direction === 'LR' ? t.y + t.h / 2 : t.x + t.w / 2
    if (flow) {
      const ends = [...new Set((flow.get(key) || []).map(([end]) => end))].filter(end => end !== key)
      return ends.sort((a, b) => Math.abs(middle(me.things.get(a)) - middle(at)) - Math.abs(middle(me.things.get(b)) - middle(at)))[0]
    }
    const sign = side === 'ArrowDown' || side === 'ArrowRight' ? 1 : -1
    const across = t => direction === 'LR' ? t.x + t.w / 2 : t.y + t.h / 2
    let best, least = Infinity
    for (const [other, t] of me.things) {
      const ahead = (middle(t) - middle(at)) * sign
      if (other === key || ahead <= 1) continue
      const cost = ahead + 3 * Math.abs(across(t) - across(at))
      if (cost < least) { best = other; least = cost }
    }
    return best
  }
  return me
}
