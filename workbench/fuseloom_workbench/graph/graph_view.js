/** The graph in its pane: toolbar, search, folding, heat, paths, comparison, keys. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const bar = h('div', { class: 'bar', role: 'toolbar', 'aria-label': 'Graph' })
  const box = h('div', { class: 'box', tabindex: 0, role: 'application', 'aria-label': 'Dataflow graph. Arrow keys walk along its edges, plus and minus zoom, 0 fits, F folds a kernel or opens a box, Enter opens a box, slash finds a node.' })
  const banner = h('div', { class: 'banner', role: 'status' })
  const legend = h('div', { class: 'legend' })
  const told = h('div', { class: 'remark' })
  const said = h('div', { class: 'said', role: 'status', 'aria-live': 'polite' })
  const drawing = picture(box)
  lights(box)
  const things = () => drawing.things
  let v = {}                      // what is drawn; the last one that could be
  let mode = 'none'
  let at = ''                     // where the keys are
  let sure = null                 // a selection that Python has not answered yet
  let until = 0                   // when it will not be waited for any more
  let waiting = false             // a picture came while the pane was hidden
  let goal = ''                   // a node to go to once its box is open
  let place = null
  let since = 0
  box.append(h('div', { class: 'empty' }, 'drawing the graph…'), banner)
  el.append(h('div', { class: 'sheet' }, bar, told, box, legend, said))

  // Toolbar -------------------------------------------------------------------------------------
  const nodes = count => `${number(count)} node${count === 1 ? '' : 's'}`
  const send = (kind, more = {}) => model.send_msg({ kind, ...more })
  const tool = (text, label, f) => h('button', { class: 'button', 'aria-label': label, title: label, on: { click: f } }, text)
  const select = (label, f, options) => h('select', { 'aria-label': label, on: { change: event => f(event.target.value) } }, options.map(([value, text]) => h('option', { value }, text)))
  let soon = 0
  const search = h('input', { type: 'search', placeholder: 'Find a node…', 'aria-label': 'Find a node', title: 'A primitive, an index, a tensor, or a number; Enter goes on to the next one',
    on: { input: () => { clearTimeout(soon); soon = setTimeout(() => look(), 120) }, keydown: event => { if (event.key === 'Enter') next(event.shiftKey ? -1 : 1); if (event.key === 'Escape') box.focus() } } })
  const found = h('span', { class: 'found', role: 'status', 'aria-live': 'polite' })
  const heat = select('Colour by', value => { mode = value; paint() }, [['none', 'Colour: kind'], ...Object.entries(HEATS).map(([value, { text }]) => [value, text])])
  const trail = h('input', { type: 'checkbox', checked: true, on: { change: paint } })
  const trailLabel = h('label', { title: 'Outline what determines the last cycle' }, trail, ' critical path')
  const against = select('Compare with', to => send('compare', { to }), [['', 'Compare: nothing'], ['A', 'Against run A'], ['global', 'Against global iteration']])
  const folds = select('Folding', to => { keep(); send('folds', { to }) }, [['auto', 'Fold: as needed'], ['kernel', 'Fold: all kernels'], ['region', 'Fold: all regions'], ['open', 'Fold: nothing'], ['own', 'Fold: as chosen']])
  const whole = h('input', { type: 'checkbox', on: { change: () => send('whole', { on: whole.checked }) } })
  const wholeLabel = h('label', { title: 'Draw every region, and the tensors that go through memory between them' }, whole, ' all regions')
  const frames = h('input', { type: 'checkbox', on: { change: () => send('clusters', { on: frames.checked }) } })
  const turn = tool('⤡', 'Left to right, or top to bottom', () => send('direction', { to: v.direction === 'LR' ? 'TB' : 'LR' }))
  bar.append(search, found, heat, trailLabel, against, folds, wholeLabel, h('label', { title: 'Frame the nodes of each kernel' }, frames, ' frames'), turn,
    tool('−', 'Zoom out', () => drawing.zoom(1 / 1.25)), tool('+', 'Zoom in', () => drawing.zoom(1.25)), tool('Fit', 'Fit the whole graph', () => drawing.fit()), tool('1:1', 'Readable size', () => drawing.home()))

  function controls() {
    const groups = Object.values(v.groups)
    const kernels = groups.filter(g => g.level === 'kernel'), regions = groups.filter(g => g.level === 'region')
    const closed = gs => gs.length > 0 && gs.every(g => g.closed), opened = gs => gs.every(g => !g.closed)
    folds.value = v.note ? 'auto' : opened(groups) ? 'open' : closed(kernels) && opened(regions) ? 'kernel' : closed(groups) ? 'region' : 'own'
    folds.querySelector('[value=own]').hidden = folds.value !== 'own'
    folds.querySelector('[value=region]').hidden = !regions.length
    whole.checked = v.whole
    wholeLabel.hidden = v.regions < 2
    frames.checked = v.clusters
    against.value = v.asked
    const a = against.querySelector('[value=A]')
    a.textContent = v.pinned ? `Against run A, ${v.pinned}` : 'Against run A (pin one first)'
    a.disabled = !v.pinned && v.asked !== 'A'
    told.textContent = [v.told, v.note].filter(Boolean).join(' ')
    told.classList.toggle('bad', !!v.asked && !v.against)
  }

  // Picture -------------------------------------------------------------------------------------
  function load() {
    const new_ = model.view
    since = 0
    if (new_.size) {
      waiting = !box.clientWidth  // without a size there is nowhere to put it
      if (waiting) return
      v = new_
      box.querySelector('.empty')?.remove()
      const here = (v.whole ? 'whole' : v.name) + v.direction
      drawing.load(v, place !== here)
      place = here
      if (!things().has(at)) at = ''
      controls()
      paint()
      path()
      if (goal && things().has(goal)) go(goal)
      goal = ''
      if ((model.hits.text || '') !== search.value.trim()) look(true)
      else gather(model.kernel)
    } else if (!v.size) box.querySelector('.empty').textContent = new_.problem || 'drawing the graph…'
    progress()
  }

  /** Remember where a group is, as it will be looked for in the next drawing. */
  function keep(group) {
    const of = key => things().get(key)
    const frame = v.frames?.[group]
    drawing.anchor = group && (of(group) || frame) ? { group, at: of(group) || { x: frame[0], y: frame[1], w: Math.min(frame[2], 300), h: Math.min(frame[3], 200) } } : null
  }

  function fold(group, closed) {
    if (!v.groups?.[group]) return
    keep(group)
    said.textContent = `${v.groups[group].name} ${closed ? 'folds' : 'opens'}`
    send('fold', { group, closed })
  }

  /** How far a drawing is that is under way, or why there is none. */
  function progress() {
    const { key, nodes: size, lines, seconds, stopped } = model.wanted
    const behind = !!key && key !== model.view.key
    const failed = !behind && model.view.problem && v.size
    banner.hidden = true
    box.classList.toggle('behind', (behind && !stopped) || model.busy)
    box.classList.toggle('stale', !!(stopped && behind) || !!failed)
    const show = (...parts) => { banner.replaceChildren(...parts); banner.hidden = false }
    const again = tool('Draw it', 'Draw it after all', () => send('again')), fewer = tool('Fold the kernels', 'Fold every kernel', () => send('folds', { to: 'kernel' }))
    if (behind && stopped) return show('Cancelled: this is the drawing of before, its nodes cannot be selected. ', again, fewer)
    if (failed) return show(`${model.view.problem[0].toUpperCase()}${model.view.problem.slice(1)}. This is the drawing of before, its nodes cannot be selected. `, again, fewer)
    if (!behind) { since = 0; return }
    if (!since) since = performance.now()
    const spent = (performance.now() - since) / 1000
    setTimeout(progress, spent < 0.5 ? 510 - spent * 1000 : 250)
    if (spent < 0.5) return
    const text = `Drawing ${nodes(size)} and ${number(lines)} edges: ${spent.toFixed(0)} s of about ${Math.max(1, Math.round(seconds))} s `
    if (banner.querySelector('progress')) banner.hidden = false
    else show(h('span'), h('progress', { max: 1, 'aria-label': 'Share of the time that drawing takes about' }), tool('Cancel', 'Cancel the drawing', () => send('stop')), fewer)
    banner.querySelector('span').textContent = text
    banner.querySelector('progress').value = Math.min(0.97, spent / Math.max(seconds, 0.7))
  }

  // Search --------------------------------------------------------------------------------------
  let turnOf = -1, came = {}
  const look = (again = false) => { if (!again) turnOf = -1; send('find', { text: search.value.trim() }) }

  function mark() {
    const { text = '', what = '', keys = [] } = model.hits
    const hits = new Set(keys)
    for (const [key, t] of things()) {
      const inside = t.info.members?.filter(k => hits.has(k)).length
      t.g.classList.toggle('hit', hits.has(key) || !!inside)
    }
    if (turnOf < 0 || !text) found.textContent = text ? keys.length ? `${nodes(keys.length)}${what ? ` of ${what}` : ''}` : 'no such node' : ''
    if (text && pending) { const by = pending; pending = 0; next(by) }
  }

  /** Mark the nodes of a kernel that is selected, and go where the first of them is. */
  function gather(names) {
    if (!names.length && !kernel) return
    kernel = names.length > 0
    const keys = Object.entries(v.nodes ?? {}).filter(([, info]) => names.includes(info.statement)).map(([key]) => key)
    for (const [key, t] of things()) t.g.classList.toggle('hit', keys.includes(key) || !!t.info.members?.some(k => keys.includes(k)))
    found.textContent = !kernel ? '' : keys.length ? `${nodes(keys.length)} of ${names.join(', ')}` : 'none of its nodes is drawn'
    const first = things().get(keys[0]) ?? things().get(v.nodes?.[keys[0]]?.box)
    if (first && box.clientWidth) drawing.centre(first)
  }
  let kernel = false  // whether the nodes of one are marked

  let pending = 0
  function next(by) {
    clearTimeout(soon)
    const { text, keys = [] } = model.hits
    if (text !== search.value.trim()) { pending = by; look(); return }
    if (!keys.length) return
    turnOf = (turnOf + (turnOf < 0 && by < 0 ? 0 : by) + keys.length) % keys.length
    found.textContent = `${turnOf + 1} of ${number(keys.length)}${model.hits.what ? ` of ${model.hits.what}` : ''}`
    const key = keys[turnOf], inside = v.nodes[key]?.box
    if (inside) { goal = key; fold(inside, false) } else go(key)
  }

  // Selection -----------------------------------------------------------------------------------
  /** Go to a thing; nodes are selected everywhere. */
  function go(key) {
    const t = things().get(key)
    if (!t) return
    at = key
    drawing.reveal(t)
    choose(key)
    const { info } = t
    said.textContent = info.members ? `${info.name}, folded, ${nodes(info.members.length)}` : `${info.label}, ${info.title}${info.state ? `, ${info.state}` : ''}`
    cursor()
  }

  const waits = () => sure !== null && sure !== model.selected && performance.now() < until

  function choose(key) {
    const node = /^(r\d+)?n\d+$/.test(key) ? key : ''
    if (node !== (waits() ? sure : model.selected)) {
      sure = node
      until = performance.now() + 3000
      send('select', { node })
    }
    path(node)
  }

  function cursor() {
    box.querySelectorAll('.at').forEach(e => e.classList.remove('at'))
    things().get(at)?.g.classList.add('at')
    if (at) box.setAttribute('aria-activedescendant', at)
    else box.removeAttribute('aria-activedescendant')
  }

  /** Dim all but what leads to the selected node and from it. */
  function path(key = model.selected) {
    box.querySelectorAll('.on, .selected').forEach(e => e.classList.remove('on', 'selected'))
    const shown = things().has(key) ? key : v.nodes?.[key]?.box || ''
    drawing.port.classList.toggle('dim', !!shown)
    if (!shown) return
    for (const along of [drawing.into, drawing.outof]) {
      const seen = new Set([shown]), open = [shown]
      while (open.length) for (const [next, l] of along.get(open.pop()) || []) {
        l.path.classList.add('on')
        if (!seen.has(next)) { seen.add(next); open.push(next) }
      }
      seen.forEach(k => things().get(k).g.classList.add('on'))
    }
    things().get(shown).g.classList.add('selected')
  }

  function selected() {
    if (waits()) return  // a later choice is under way
    sure = null
    if (at !== model.selected && things().has(model.selected)) { at = model.selected; drawing.reveal(things().get(at)) }
    path()
    cursor()
  }

  // Colour --------------------------------------------------------------------------------------
  function paint() {
    const data = model.heat
    for (const [kind, { text, run }] of Object.entries(HEATS)) {
      const option = heat.querySelector(`[value=${kind}]`)
      option.disabled = !Object.keys(figures(data, kind)).length
      option.textContent = option.disabled && run ? `${text} (${kind === 'path' ? 'explain' : 'run'} first)` : text
    }
    if (mode !== 'none' && heat.querySelector(`[value=${mode}]`).disabled) { mode = heat.value = 'none' }
    const { result, most } = mode === 'none' ? {} : warmed(data, mode, things())
    const busy = figures(data, 'busy'), guess = figures(data, 'expected')
    const ran = Object.keys(busy).length > 0
    const on = new Set(trail.checked ? [...Object.keys(data.critical?.nodes || {}), ...data.critical?.edges || []] : [])
    for (const [key, { g, info }] of things()) {
      const shape = g.querySelector('.shape'), warm = !info.copy && info.state !== 'missing' && result?.get(key)
      g.classList.toggle('hot', !!warm)
      shape.style.fill = warm ? warm.fill : ''
      const glyph = g.querySelector('.glyph')
      if (glyph) glyph.textContent = (warm && warm.glyph) || info.glyph
      g.told = warm ? warm.told : ''
      g.classList.toggle('critical', (info.members || [key]).some(k => on.has(k)))
      if (info.members) {
        const most = figure(info.members, ran ? busy : guess, 'max')
        g.querySelector('.figures').setAttribute('data-help', 'node.busy')
        g.querySelector('.figures').textContent = [nodes(info.members.length), info.new || info.missing ? `+${info.new} −${info.missing}` : `${ran ? '' : 'est. '}${number(most)} cy`].join(' · ')
        g.told ||= `${info.kernels ? `${info.kernels} kernels, ` : ''}${nodes(info.members.length)}, ${info.inside} streams inside; its busiest node: ${number(most)} cycles busy${ran ? '' : ', est.'}`
      }
    }
    for (const l of drawing.lines) {
      const critical = l.of.some(id => on.has(id))
      l.path.classList.toggle('critical', critical)
      l.path.setAttribute('marker-end', `url(#tip-${critical ? 'critical' : l.state || l.kind})`)
    }
    trail.disabled = !data.critical?.nodes
    trailLabel.classList.toggle('off', trail.disabled)
    legend.replaceChildren(...(result ? scale(most) : kinds()), ...v.against ? states() : [], ...streams())
  }

  const swatch = (name, text, style, help) => h('span', { 'data-help': help }, h('i', { class: name, style }), text)
  const kinds = () => (v.legend || []).map(k => h('span', {}, h('i', { class: 'family', style: `color:var(--${k.token});background:var(--${k.token}-f);border-color:var(--${k.token})` }, k.glyph), k.text))
  const states = () => [h('span', { class: 'state good' }, '+ new'), h('span', { class: 'state bad' }, '− missing')]
  const scale = most => mode === 'waiting'
    ? [...Object.values(CAUSES).map(c => swatch('swatch', `${c.glyph} ${c.text}`, `background:color-mix(in srgb, var(--${c.token}) 60%, #fff)`, 'node.waits')), h('span', { 'data-help': 'node.waits' }, `deeper: more of the ${number(model.heat.cycles)} cycles; at most ${number(most)}`)]
    : [h('span', { 'data-help': HEATS[mode].help }, '0 ', h('i', { class: 'scale', style: `background:linear-gradient(90deg, ${[0, .25, .5, .75, 1].map(ramp).join(',')})` }), ` ${number(most)} ${HEATS[mode].unit}; boxes: ${HEATS[mode].join === 'max' ? 'their busiest node' : 'all their nodes'}`)]
  const streams = () => [['crd', 'coordinates'], ['ref', 'references'], ['val', 'values'], ['sig', 'repeat signal'], ...v.whole ? [['mem', 'through memory']] : [], ...!trail.disabled && trail.checked ? [['trail', 'critical path']] : []].map(([name, text]) => swatch(`line ${name}`, text, null, name === 'trail' ? 'path.cycles' : null))

  /** What a line carries, in words. */
  function carried(l) {
    const tokens = l.of.reduce((sum, id) => sum + (model.heat.streams?.[id] ?? 0), 0)
    const how = model.heat.measured ? 'sim.' : 'est.'
    const state = l.state ? `${l.state}: ` : ''
    if (l.kind === 'mem') return `${[...new Set([l.label].filter(Boolean))].join()}${l.of.length > 1 ? `${l.of.length} levels and values` : ''} through memory`
    return `${state}${l.label || `${l.of.length} streams`}${tokens ? `, ${number(tokens)} tokens ${how}` : ''}`
  }

  box.addEventListener('pointerover', event => {
    const target = event.target.closest?.('g.node, path.edge')
    if (!target) return
    const info = things().get(target.id)?.info
    const text = target.line ? carried(target.line) : !info ? '' : info.members ? `${info.name}: ${target.told}. Click opens it.` : `${info.label}: ${info.title}${info.index ? `, index ${info.index}` : ''}, of ${info.statement}${info.state ? `, ${info.state}` : ''}${target.told ? `. ${target.told}` : ''}`
    let title = target.querySelector('title')
    if (!title) target.append(title = document.createElementNS('http://www.w3.org/2000/svg', 'title'))
    if (title.textContent !== text) title.textContent = text
  })

  // Pointer and keys ----------------------------------------------------------------------------
  box.addEventListener('click', event => {
    if (box.dragged || event.target.closest?.('.banner, .map')) return
    box.focus({ preventScroll: true })
    const title = event.target.closest?.('g.frame .title')
    if (title) return fold(title.parentNode.dataset.group, true)
    const key = event.target.closest?.('g.node')?.id || ''
    if (v.boxes?.[key]) return fold(key, false)
    at = key
    choose(key)
    cursor()
  })
  box.addEventListener('keydown', event => {
    if (event.target.closest('.banner') || event.ctrlKey || event.metaKey || event.altKey) return
    const pan = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key]
    const { key } = event
    if (pan && things().has(at) && !event.shiftKey) {
      const back = came.to === at && came.key === { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft', ArrowUp: 'ArrowDown', ArrowDown: 'ArrowUp' }[key]
      const to = back && things().has(came.from) ? came.from : drawing.step(at, key, v.direction)
      came = { from: at, to, key }
      if (to) go(to); else said.textContent = 'nothing further here'
    } else if (pan) { drawing.view.x += pan[0]; drawing.view.y += pan[1]; drawing.apply() }
    else if (key === '+' || key === '=') drawing.zoom(1.2)
    else if (key === '-') drawing.zoom(1 / 1.2)
    else if (key === '0') drawing.fit()
    else if (key === '/') search.focus()
    else if (key === 'Escape') { at = ''; choose(''); cursor() }
    else if (key === 'Enter' && v.boxes?.[at]) fold(at, false)
    else if (key === 'f' || key === 'F') {
      if (v.boxes?.[at]) fold(at, false)
      else if (v.nodes?.[at]) fold(v.nodes[at].groups.at(-1), true)
    } else if (key === 'n' || key === 'p') {
      const order = [...things()].filter(([, t]) => !t.info.copy).sort(([, a], [, b]) => a.x - b.x || a.y - b.y).map(([k]) => k)
      go(order[(order.indexOf(at) + (key === 'n' ? 1 : -1) + order.length) % order.length])
    } else return
    event.preventDefault()
  })

  model.on('view', load)
  model.on('heat', () => { if (v.size) paint() })
  model.on('hits', mark)
  model.on('selected', selected)
  model.on('kernel', () => { if (v.size) gather(model.kernel) })
  model.on('wanted', progress)
  model.on('busy', progress)
  new ResizeObserver(() => { if (waiting && box.clientWidth) load(); else if (v.size && box.clientWidth) drawing.apply() }).observe(box)
  if (there(model)) load()
  else progress()
}
