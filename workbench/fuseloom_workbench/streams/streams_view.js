/** Stepping through a run: play, pause, step, back; the selected node tells what it just did. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const MOVE = 300, BEAT = 600   // milliseconds of a step, and per cycle in play
  const still = matchMedia('(prefers-reduced-motion: reduce)')
  const count = (n, noun) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`

  let recording = null
  let cycle = 0
  let node = -1          // whose story is told
  let playing = 0        // a timer
  let awaited = ''       // what was asked for last
  let open = false       // whether the pane can be seen
  let loaded = ''        // key of the drawing that is mounted

  // Parts of the pane -------------------------------------------------------------------------
  const box = h('div', { class: 'ground', tabindex: 0, role: 'application', 'aria-label': 'Graph with tokens. Comma steps back, full stop steps on, space plays. Arrow keys pan, plus and minus zoom, 0 fits, n and p go from node to node.' })
  const veil = h('div', { class: 'veil', role: 'status', 'aria-live': 'polite' })
  const note = h('span', { class: 'note' })
  const tool = (text, label, f) => h('button', { class: 'tool', title: label, 'aria-label': label, on: { click: f } }, text)
  const view = h('div', { class: 'view' }, tool('−', 'Zoom out', () => picture.zoom(1 / 1.25)), tool('+', 'Zoom in', () => picture.zoom(1.25)), tool('Fit', 'Fit the whole graph (0)', () => picture.fit()))
  const play = tool('▶', 'Play (space)', () => toggle())
  const speed = h('select', { 'aria-label': 'Speed of playing', title: 'Speed of playing' }, [1, 2, 4, 8].map(x => h('option', { value: x }, `${x}×`)))
  const scrub = h('input', { type: 'range', min: 0, max: 0, value: 0, 'aria-label': 'Cycle', on: { input: () => { pause(); go(Number(scrub.value)) } } })
  const marks = h('canvas', { class: 'marks', 'aria-hidden': 'true' })
  const clock = h('output', { class: 'clock', 'data-help': 'streams.cycle', 'aria-live': 'off' })
  const before = tool('◂ act', 'To the selected node’s action before', () => { pause(); act(-1) })
  const after = tool('act ▸', 'To the selected node’s next action', () => { pause(); act(1) })
  const controls = h('div', { class: 'controls', role: 'toolbar', 'aria-label': 'Stepping' },
    h('div', { class: 'group' }, tool('|◂', 'To the start', () => { pause(); go(0) }), tool('◂', 'Back one cycle (,)', () => step(-1)), play, tool('▸', 'On one cycle (.)', () => step(1))),
    h('div', { class: 'group' }, before, after), speed,
    h('div', { class: 'track' }, marks, scrub), clock)
  const told = h('div', { class: 'told', 'aria-live': 'polite' })
  const side = h('aside', { class: 'side', tabindex: 0, 'aria-label': 'What the selected node just did' })
  const main = h('div', { class: 'main' }, h('div', { class: 'stage' }, box, note, view, veil), controls)
  el.append(h('div', { class: 'streams' }, main, side))
  const picture = new Picture(box, { select: number => choose(number) })

  // What Python sends -------------------------------------------------------------------------
  const ask = (at, who) => {
    const wanted = `${at} ${who}`
    if (wanted === awaited) return
    awaited = wanted
    model.send_msg({ kind: 'step', cycle: at, node: who })
  }

  let read = {}          // texts that have been read
  /** Whether a text has come that was not read yet. */
  function fresh(name) {
    if (!model[name] || read[name] === model[name]) return false
    read[name] = model[name]
    return true
  }

  function take() {
    const v = model.view
    if (v.svg && open && loaded !== v.key) {
      if (!picture.load(v)) return
      loaded = v.key
      recording = null
      read = {}
      cycle = 0
      node = -1
      awaited = ''
      pause()
    }
    if (v.outline && loaded === v.key && recording?.last !== v.outline.last) {  // a beginning comes first
      recording = new Recording(v)
      read = {}
      awaited = ''
      scrub.max = recording.last
      if (cycle > recording.last) cycle = recording.last
    }
    if (recording) {
      if (fresh('chunk')) recording.take(JSON.parse(model.chunk))
      if (fresh('story')) {
        const story = JSON.parse(model.story)
        recording.hear(story)
        if (node < 0 && story.key === recording.key) { node = picture.selected = story.node; picture.home() }
      }
      follow()
    }
    box.classList.toggle('busy', model.busy && loaded !== '' && !(recording && model.view.key === recording.key))
    show()
    fetch()
  }

  let chosen = -1        // a node of the page's graph that was chosen here, until the page says so
  let seen = -1          // what the page had selected
  /** Go along when another view selects a node. */
  function follow() {
    const now = model.selected
    if (chosen >= 0) { if (now === chosen) chosen = -1 }
    else if (now !== seen && now >= 0 && now !== node) { node = now; picture.mark(node, true) }
    seen = now
  }

  /** What there is instead of tokens: waiting, or the reason why not. */
  function say() {
    const v = model.view
    let text = ''
    if (!open || !Object.keys(v).length || (!v.svg && !v.problem)) text = 'drawing the graph…'
    else if (v.problem) text = v.problem
    else if (!recording) text = 'running the region and keeping its tokens…'
    else if (!recording.at(cycle)) text = `fetching cycle ${cycle.toLocaleString('en')}…`
    veil.textContent = text
    veil.classList.toggle('bad', !!v.problem)
    veil.hidden = !text
    const cut = recording && recording.cycles === null
    note.textContent = recording ? `${v.name}: ` + (!cut ? '' : recording.note.startsWith('showing') ? `too long to step through whole, ${recording.note.split(':')[0].replace('showing ', '')}` : `stuck in cycle ${recording.last.toLocaleString('en')}, ${recording.note}`) : v.name || ''
    if (recording && (cut || v.more)) note.dataset.help = 'streams.cycle'
    else note.removeAttribute('data-help')
    if (recording && !cut && !v.more) note.replaceChildren(`${v.name}: `, h('span', { 'data-help': 'cycles.simulated' }, count(recording.cycles, 'cycle')), ', ', h('span', { 'data-help': 'tokens' }, count(recording.tokens, 'token')))
    if (recording && v.more) note.textContent = `${v.name}: the first ${count(recording.last, 'cycle')}, more are being recorded`
    note.title = recording ? recording.note || `on the machine ${recording.machine}` : ''
    note.classList.toggle('warn', !!cut)
  }

  // Time --------------------------------------------------------------------------------------
  function go(to, duration = 0) {
    if (!recording) return
    const next = Math.min(recording.last, Math.max(0, to))
    const forward = next >= cycle
    const beside = Math.abs(next - cycle) === 1
    cycle = next
    show(beside && !still.matches ? duration : 0, forward)
    fetch()
  }

  /** Ask for what is not here: this cycle's tokens, the sentences, and soon what comes next. */
  function fetch() {
    if (!recording || !open) return
    const there = recording.at(cycle)
    if (!there || !recording.span(node, cycle)) return ask(cycle, node)
    const following = recording.number(cycle) + 1
    const near = cycle > there.stop - Math.max(20, (there.stop - there.first) * 0.2)
    if (near && following + 1 < recording.bounds.length && !recording.chunks.has(following)) ask(recording.bounds[following], node)
  }

  function step(way) { pause(); go(cycle + way, MOVE) }

  function act(way) {
    const to = recording ? recording.nextAct(node, cycle, way) : -1
    if (to >= 0 && to <= recording.last) go(to, MOVE)
  }

  function beat() {
    if (!recording || cycle >= recording.last || document.hidden) return pause()
    const pace = BEAT / Number(speed.value)
    if (recording.at(cycle + 1)) go(cycle + 1, Math.min(MOVE, pace * 0.6))
    else ask(cycle + 1, node)
    playing = setTimeout(beat, pace)
  }
  function toggle() {
    if (playing) return pause()
    if (recording && cycle >= recording.last) go(0)
    play.textContent = '❚❚'
    play.title = 'Pause (space)'
    play.setAttribute('aria-label', play.title)
    playing = setTimeout(beat, 0)
  }
  function pause() {
    clearTimeout(playing)
    playing = 0
    play.textContent = '▶'
    play.title = 'Play (space)'
    play.setAttribute('aria-label', play.title)
  }
  document.addEventListener('visibilitychange', () => { if (document.hidden) pause() })

  // Node --------------------------------------------------------------------------------------
  function choose(number) {
    if (!recording) return
    node = number
    chosen = recording.nodes[number].family === 'memory' ? -1 : number
    picture.mark(number, false)
    ask(cycle, number)
    show()
  }

  // Drawing -----------------------------------------------------------------------------------
  function show(duration = 0, forward = true) {
    const here = recording?.at(cycle)
    if (recording) {
      scrub.value = cycle
      scrub.setAttribute('aria-valuetext', `cycle ${cycle} of ${recording.last}`)
      clock.textContent = `cycle ${cycle.toLocaleString('en')}`
      clock.title = `of ${recording.last.toLocaleString('en')}`
    }
    if (here) {
      picture.show(here.streams, cycle, recording.streams, duration, forward)
      const numbers = new Set()
      recording.nodes.forEach((n, k) => {
        const moved = n.ins.some(([, q]) => here.streams[q].left(cycle) > (cycle === here.first ? here.streams[q].left0 : here.streams[q].left(cycle - 1)))
          || n.outs.some(([, q]) => here.streams[q].entered(cycle) > (cycle === here.first ? here.streams[q].entered0 : here.streams[q].entered(cycle - 1)))
        if (moved) numbers.add(k)
      })
      picture.acting(numbers)
    }
    picture.mark(node, false)
    say()
    tell(here)
    mark()
  }

  const chip = (token, kind, extra = '') => h('span', { class: `chip ${kind} ${sort(token.text)} ${extra}`, title: `${token.text}: put in cycle ${token.put.toLocaleString('en')}` }, small(token.text))

  /** What lies in a stream, the next to leave first; what was taken last stands before it, paler. */
  function strip([name, number], here, incoming) {
    const stream = recording.streams[number]
    const channel = here.streams[number]
    const { tokens, depth } = channel.held(cycle, 6)
    const other = recording.nodes[incoming ? stream.from : stream.to].label
    const places = stream.capacity === null ? count(depth, 'token') : `${depth} of ${count(stream.capacity, 'place')}`
    return h('div', { class: 'strip' },
      h('div', { class: 'port' }, h('b', {}, name), stream.index && stream.kind === 'crd' ? ` ${stream.index}` : '', h('span', {}, ` ${incoming ? 'from' : 'to'} ${other}`), h('span', { class: 'depth', 'data-help': 'streams.held' }, places)),
      h('div', { class: 'row', role: 'img', 'aria-label': `tokens of ${name}` },
        channel.gone(cycle, 3).map(t => chip(t, stream.kind, t.taken === cycle ? 'now' : 'gone')), h('i', { class: 'bar' }),
        tokens.map(t => chip(t, stream.kind, t.seen > cycle ? 'moving' : '')), depth > tokens.length && h('span', { class: 'rest' }, `+${(depth - tokens.length).toLocaleString('en')}`)))
  }

  function tell(here) {
    const n = recording?.nodes[node]
    if (!n) return side.replaceChildren(h('p', { class: 'hint' }, 'Select a node to read what it just did.'))
    const said = recording.told(node, cycle)
    const now = said?.now
    const acts = now && now[1] === 'acts' && now[0] === cycle
    const state = !now ? '' : acts ? 'just did' : now[1] === 'acts' ? `did in cycle ${now[0].toLocaleString('en')}` : { waits: 'waits', works: 'works', ended: 'ended' }[now[1]]
    const sentence = now ? now[2].replace(/^waits: /, '') : ''
    told.replaceChildren(h('b', {}, !said ? '…' : !now ? 'Nothing yet.' : acts ? 'It ' : now[1] === 'waits' ? 'Waits: ' : 'It '), sentence + (sentence ? '.' : ''))
    told.className = `told ${now ? acts ? 'acts' : now[1] === 'acts' ? 'past' : now[1] : ''}`
    const past = (said?.before || []).filter(m => m[1] === 'acts').slice(acts ? -4 : -4).reverse()
    const lines = [
      h('h3', {}, h('span', { class: `glyph f-${model.view.colours[`n${node}`]}` }), n.label, h('small', {}, state)),
      h('p', { class: 'hint', title: n.doc }, n.title),
      told,
      n.ins.length > 0 && h('h4', {}, n.ins.length > 1 ? 'Inputs: taken | next' : 'Input: taken | next'), here && n.ins.map(p => strip(p, here, true)),
      n.outs.length > 0 && h('h4', {}, n.outs.length > 1 ? 'Outputs: gone | put' : 'Output: gone | put'), here && n.outs.map(p => strip(p, here, false)),
      past.length > 0 && h('h4', {}, 'Before'),
      past.length > 0 && h('ol', { class: 'past' }, past.map(([at, , text]) => h('li', {}, h('button', { class: 'at', title: 'To that cycle', on: { click: () => { pause(); go(at) } } }, at.toLocaleString('en')), text))),
      legend(),
    ]
    side.replaceChildren(...lines.flat().filter(Boolean))
  }

  const legend = () => h('div', { class: 'legend' },
    [['crd', '3', 'coordinate'], ['ref', '3', 'reference'], ['val', '3', 'value'], ['sig', 'R', 'repeat']].map(([kind, text, name]) => h('span', {}, h('span', { class: `chip ${kind} leaf` }, text), name)),
    [['S0', 'stop', 'ends a fiber'], ['D', 'done', 'ends the stream'], ['N', 'none', 'nothing here']].map(([text, of, name]) => h('span', {}, h('span', { class: `chip crd ${of}` }, text), name)))

  /** On the scrubber, the cycles in which the selected node acts. */
  function mark() {
    const acts = recording?.stories.get(node)?.acts
    const [w, hh] = [marks.clientWidth, marks.clientHeight]
    const key = `${node} ${w} ${recording?.key} ${acts?.length} ${getComputedStyle(el).color}`
    before.disabled = !acts || recording.nextAct(node, cycle, -1) < 0
    after.disabled = !acts || recording.nextAct(node, cycle, 1) < 0
    if (!w || key === marks.key) return
    marks.key = key
    const ratio = devicePixelRatio || 1
    marks.width = w * ratio
    marks.height = hh * ratio
    const brush = marks.getContext('2d')
    brush.scale(ratio, ratio)
    brush.fillStyle = getComputedStyle(marks).color
    const scale = (w - 16) / Math.max(1, recording?.last || 1)
    for (let k = 0; k < (acts?.length || 0); k += 2) brush.fillRect(8 + (acts[k] - 0.4) * scale, 0, Math.max(1, (acts[k + 1] - 0.2) * scale), hh)
  }

  // Keys --------------------------------------------------------------------------------------
  const busyWith = event => {
    const at = event.composedPath()[0]
    return at?.matches?.('input:not([type=range]), textarea, select, [contenteditable]') || at?.isContentEditable
  }
  function stepping(event) {
    if (!open || event.ctrlKey || event.metaKey || event.altKey || busyWith(event)) return
    const path = event.composedPath()
    const inside = path.includes(el)
    // on a page of its own from everywhere; in a notebook other things have the keys
    if (!inside && event.target !== document.body && !path.some(e => e.classList?.contains('app') && e.classList.contains('full'))) return
    const pressed = path[0]?.matches?.('button, select, summary, a') || (!inside && path[0]?.matches?.('[tabindex]:not([tabindex="-1"])'))
    if (event.key === ',') step(-1)
    else if (event.key === '.') step(1)
    else if (event.key === ' ' && !pressed) toggle()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  document.addEventListener('keydown', stepping, true)
  box.addEventListener('keydown', event => {
    const pan = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key]
    const way = { n: 1, p: -1 }[event.key]
    if (pan) { picture.view.x += pan[0]; picture.view.y += pan[1]; picture.apply() }
    else if (event.key === '+' || event.key === '=') picture.zoom(1.2)
    else if (event.key === '-') picture.zoom(1 / 1.2)
    else if (event.key === '0') picture.fit()
    else if (way) {
      const order = [...picture.nodes].filter(([k]) => model.view.colours[`n${k}`] !== 'copy').sort(([, a], [, b]) => a.x - b.x || a.y - b.y).map(([k]) => k)
      if (order.length) { choose(order[(order.indexOf(node) + way + order.length) % order.length]); picture.mark(node, true) }
    } else return
    event.preventDefault()
  })

  // Being seen --------------------------------------------------------------------------------
  /** A run is recorded only while somebody looks; the last one stays. */
  function look() {
    const there = box.clientWidth > 0
    if (there === open) { if (there) { picture.apply(); mark() } return }
    open = there
    awaited = ''
    if (there) { take(); ask(cycle, node) } else { pause(); ask(-1, -1) }
  }
  new ResizeObserver(look).observe(box)
  model.on('answers', take)
  model.on('remove', () => { pause(); document.removeEventListener('keydown', stepping, true) })
  look()
  say()
}
