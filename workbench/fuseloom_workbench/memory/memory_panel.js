/** What the machine's memory did: figures, latencies of requests, and what each channel did. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const LEAST_WIDTH = 270, LEAST_HEIGHT = 84, SHORT = 260, MOST_HEIGHT = 400, GAP = 16, CAPTION = 24, PADDING = 24
  const NO_RUN = 'Not measured in this configuration yet. Press Run to measure it.'
  const noMemory = machines => `This machine has no memory: every word comes at once. Choose ${machines.join(' or ')} as the machine, here or on the left, then run.`
  let room = { width: 0, height: 0 }  // asked for when it changes only: asking lays everything out
  let shown = []

  const title = h('h3')
  const svgs = h('button', { class: 'button small', 'data-action': 'memory-svg', title: 'The plots as one drawing', on: { click: () => saveAs(drawing(shown, frame), 'fuseloom-memory.svg', 'image/svg+xml') } }, 'SVG')
  const head = h('div', { class: 'title' }, title, svgs)
  const figures = h('dl', { class: 'figures' })
  const plots = h('div', { class: 'plots' })
  const empty = h('p', { class: 'quiet' })
  const offers = h('div', { class: 'offers' })
  const frame = h('div', { class: 'memory' }, head, figures, plots, empty, offers)
  const tip = h('div', { class: 'tip', 'aria-hidden': 'true' })
  tip.hidden = true
  el.append(frame, tip)

  const hooks = {
    tell(event, said, help) {
      const [[first, text], ...rest] = said
      tip.replaceChildren(h('b', {}, `${first} ${text}`), ...rest.map(([name, value]) => h('div', { 'data-help': help }, h('span', { class: 'quiet' }, `${name} `), value)))
      tip.hidden = false
      const box = tip.getBoundingClientRect(), at = event.target.getBoundingClientRect()
      const [x, y] = event.type === 'focus' ? [at.right, at.top] : [event.clientX, event.clientY]
      tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 6))}px`
      tip.style.top = `${Math.max(4, y + 16 + box.height > innerHeight ? y - box.height - 12 : y + 16)}px`
    },
    hide() { tip.hidden = true },
  }

  const key = (colour, text) => h('span', { class: 'key' }, h('i', { class: 'swatch', style: `background:var(--${colour})` }), text)
  function peakOf(memory) {
    if (memory.peak === null) return 'no limit'
    const peak = `peak ${memory.peak.toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} GB/s${memory.channels.length > 1 ? ' each' : ''}`
    return near(memory) ? `dashed: ${peak}` : `${peak}, far above`
  }
  const PLOTS = [
    ['Latency of requests', latencyPlot, memory => memory.latencies.length, () => [key('reads', 'reads'), key('writes', 'writes')]],
    ['Bandwidth by channel', bandwidthPlot, memory => memory.channels.length, memory => [h('span', { 'data-help': 'bandwidth.peak' }, peakOf(memory))]],
    ['Accesses without a row hit', rowsPlot, memory => memory.rows, () => [key('misses', 'row closed'), key('conflicts', 'another row open')]],
  ]

  function drawPlots(memory) {
    const kinds = PLOTS.filter(([, , able]) => able(memory))
    const columns = Math.max(1, Math.min(kinds.length, Math.floor((room.width + GAP) / (LEAST_WIDTH + GAP))))
    const left = room.height - plots.offsetTop - CAPTION - 8
    const at = { width: Math.floor((room.width - GAP * (columns - 1)) / columns), height: Math.max(LEAST_HEIGHT, Math.min(MOST_HEIGHT, left)) }
    plots.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`
    const again = el.getRootNode().activeElement
    const [plot, bar] = again && plots.contains(again) ? [again.closest('[data-plot]').dataset.plot, +again.dataset.bar] : []
    shown = []
    const made = kinds.map(([name, make, , notes]) => {
      const { svg, go } = make(memory, at, hooks)
      shown.push({ title: name, svg })
      return { svg, go, node: h('figure', {}, h('figcaption', {}, h('b', {}, name), h('span', { class: 'quiet notes' }, notes(memory))), svg) }
    })
    plots.replaceChildren(...made.map(m => m.node))
    made.find(m => m.svg.dataset.plot === plot)?.go(bar)
  }

  function draw() {
    if (!there(model)) return
    const { region, there: has, memory, machines } = model.view
    hooks.hide()
    for (const part of [head, figures, plots]) part.hidden = !memory
    empty.hidden = !!memory
    empty.textContent = has ? NO_RUN : noMemory(machines)
    offers.replaceChildren(...(has || memory ? [] : machines.map(name => h('button', { class: 'button', 'data-machine': name, title: `Simulate on ${name}; Undo goes back`, on: { click: () => model.send_msg({ kind: 'machine', name }) } }, `Use ${name}`))))
    if (!memory) return
    title.replaceChildren(`Memory ${memory.name}`, h('small', {}, ` in region ${region}`))
    figures.replaceChildren(...memory.figures.map(f => h('div', { 'data-help': f.help, title: f.more }, h('dt', {}, f.name), h('dd', {}, f.value, ' ', h('small', {}, f.more)))))
    if (room.width > 0) drawPlots(memory)
  }

  model.on('view', draw)
  new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = frame
    if (!width || (width - PADDING === room.width && height === room.height)) return
    room = { width: width - PADDING, height }
    frame.classList.toggle('short', height < SHORT)
    draw()
  }).observe(frame)
  draw()
}
