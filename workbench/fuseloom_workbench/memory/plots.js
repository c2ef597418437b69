// Plots of bars that stand beside each other: requests by latency, and figures by channel.

const EDGE = { right: 10, top: 8, bottom: 36 }
const WIDEST = 56  // of a bar, in pixels

/**
 * Bars in pieces, one above the other, under even ticks.
 *
 * `bars` are lists of { value, colour } with `said`, what a bar tells: [name, text] pairs, the first one as a head;
 * `ticks` are [place, text] with places counted in bars; `line` is a height to be dashed. `tell(event, said, help)`
 * shows what a bar says, and `hide()` ends that.
 */
function columnsPlot({ name, about, at, across, up, bars, ticks, most, line, tell, hide }) {
  const last = ticks[ticks.length - 1]
  const x1 = at.width - Math.max(EDGE.right, last[0] === bars.length ? wide(last[1]) / 2 + 2 : 0), y1 = at.height - EDGE.bottom
  const sy = scale([0, most], false, y1, EDGE.top, Math.floor((y1 - EDGE.top) / 26))
  const x0 = 26 + Math.max(20, ...sy.ticks.map(tick => wide(brief(tick))))
  const room = (x1 - x0) / bars.length
  const breadth = Math.min(WIDEST, Math.max(room - Math.min(3, room / 5), 1))
  const svg = s('svg', { class: 'plot', width: at.width, height: at.height, viewBox: `0 0 ${at.width} ${at.height}`, role: 'group', 'data-plot': name, 'aria-label': `${about}. ${bars.length} bar${bars.length === 1 ? '' : 's'}; arrow keys go from one to another.` })
  const scaleUp = s('g', { 'data-help': up.help })
  for (const tick of sy.ticks) scaleUp.append(s('line', { class: 'grid', x1: x0, x2: x1, y1: sy(tick), y2: sy(tick) }), s('text', { class: 'tick', x: x0 - 5, y: sy(tick) + 4, 'text-anchor': 'end' }, brief(tick)))
  const middle = (EDGE.top + y1) / 2
  scaleUp.append(s('text', { class: 'axis', x: 11, y: middle, 'text-anchor': 'middle', transform: `rotate(-90 11 ${middle})` }, up.label))
  const scaleAcross = s('g', { 'data-help': across.help })
  let end = -Infinity
  for (const [place, text] of ticks) {
    const x = x0 + place * room, half = wide(text) / 2
    if (x - half < end + 5) continue
    end = x + half
    scaleAcross.append(s('text', { class: 'tick', x, y: y1 + 14, 'text-anchor': 'middle' }, text))
  }
  scaleAcross.append(s('text', { class: 'axis', x: (x0 + x1) / 2, y: y1 + 30, 'text-anchor': 'middle' }, across.label))
  svg.append(scaleUp, scaleAcross)
  const nodes = bars.map(({ pieces, said }, k) => {
    const left = x0 + k * room
    const node = s('g', {
      class: 'bar', role: 'img', tabindex: k ? -1 : 0, 'data-bar': k, 'data-help': up.help, 'aria-label': said.map(([what, text]) => `${what} ${text}`).join(', '),
      on: { mousemove: event => tell(event, said, up.help), mouseleave: hide, focus: event => { if (event.target.matches(':focus-visible')) tell(event, said, up.help) }, blur: hide },
    }, s('rect', { class: 'grab', x: left, y: EDGE.top, width: room, height: y1 - EDGE.top }))
    let below = y1
    for (const { value, colour } of pieces.filter(p => p.value > 0)) {
      const tall = Math.max(y1 - sy(value), 1)  // what there is can be seen
      below -= tall
      node.append(s('rect', { x: left + (room - breadth) / 2, y: below, width: breadth, height: tall, fill: `var(--${colour})` }))
    }
    return node
  })
  svg.append(...nodes, s('line', { class: 'ground', x1: x0, x2: x1, y1, y2: y1 }))
  if (line && line <= most) svg.append(s('line', { class: 'peak', x1: x0, x2: x1, y1: sy(line), y2: sy(line) }))
  svg.addEventListener('keydown', event => {
    const here = nodes.indexOf(event.target)
    if (here < 0) return
    if (event.key === 'Escape') event.target.blur()
    else {
      const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: nodes.length - 1 }[event.key]
      if (to === undefined) return
      go(Math.min(Math.max(to, 0), nodes.length - 1))
    }
    event.preventDefault()
    event.stopPropagation()
  })
  /** Make a bar the one that Tab comes to, and go there. */
  function go(k) {
    nodes.forEach((node, other) => node.setAttribute('tabindex', other === k ? 0 : -1))
    nodes[k].focus()
  }
  return { svg, go: k => { if (nodes[k]) go(k) } }
}

const requests = n => `${full(n)} request${n === 1 ? '' : 's'}`
const percent = part => `${(100 * part).toFixed(1)} %`

/** How long reads and writes took, by powers of two. */
function latencyPlot(memory, at, hooks) {
  const bins = memory.latencies
  return columnsPlot({
    ...hooks, name: 'latency', at, about: 'Requests by machine cycles from request to answer, reads below writes',
    across: { label: 'machine cycles from request to answer', help: 'memory.latency' }, up: { label: 'requests', help: 'memory.requests' },
    bars: bins.map(b => ({
      pieces: [{ value: b.reads, colour: 'reads' }, { value: b.writes, colour: 'writes' }],
      said: [[b.from === b.to ? full(b.from) : `${full(b.from)} to ${full(b.to)}`, b.to === 1 ? 'cycle' : 'cycles'], ['reads', requests(b.reads)], ['writes', requests(b.writes)]],
    })),
    ticks: [...bins.map((b, k) => [k, full(b.from)]), [bins.length, full(bins[bins.length - 1].to + 1)]],
    most: 1.06 * Math.max(1, ...bins.map(b => b.reads + b.writes)),
  })
}

const numbers = memory => memory.channels.map((_, k) => [k + 0.5, `${k}`])
const CHANNEL = { label: 'channel', help: 'memory.bandwidth' }

/** Whether the peak of a channel is near enough to its bars to stand on one axis with them. */
const near = memory => memory.peak !== null && memory.peak <= 2.5 * Math.max(...memory.channels.map(c => c.rate))

/** What each channel moved in a second. */
function bandwidthPlot(memory, at, hooks) {
  const rates = memory.channels.map(c => c.rate)
  const most = Math.max(...rates, near(memory) ? memory.peak : 0)
  return columnsPlot({
    ...hooks, name: 'bandwidth', at, about: 'Bandwidth by channel, in GB/s',
    across: CHANNEL, up: { label: 'GB/s', help: 'memory.bandwidth' }, line: memory.peak,
    bars: memory.channels.map((c, k) => ({
      pieces: [{ value: c.rate, colour: 'moved' }],
      said: [['channel', `${k}`], ['bandwidth', `${c.rate.toFixed(2)} GB/s`], ...memory.peak === null ? [] : [['of its peak', percent(c.rate / memory.peak)]], ['read accesses', full(c.reads)], ['write accesses', full(c.writes)]],
    })),
    ticks: numbers(memory), most: 1.06 * Math.max(most, 1e-9),
  })
}

/** Accesses that did not find their row open: none was (a miss), or another one (a conflict). */
function rowsPlot(memory, at, hooks) {
  const all = memory.channels.map(c => Math.max(1, c.hits + c.misses + c.conflicts))
  const shares = memory.channels.map((c, k) => [100 * c.misses / all[k], 100 * c.conflicts / all[k]])
  return columnsPlot({
    ...hooks, name: 'rows', at, about: 'Accesses that found their row closed or another one open, by channel, in % of its accesses',
    across: { ...CHANNEL, help: 'memory.hits' }, up: { label: '% of the accesses', help: 'memory.hits' },
    bars: memory.channels.map((c, k) => ({
      pieces: [{ value: shares[k][0], colour: 'misses' }, { value: shares[k][1], colour: 'conflicts' }],
      said: [['channel', `${k}`], ['row hits', `${full(c.hits)}, ${percent(c.hits / all[k])} of the accesses`], ['row closed', full(c.misses)], ['another row open', full(c.conflicts)]],
    })),
    ticks: numbers(memory), most: 1.06 * Math.max(1, ...shares.map(([a, b]) => a + b)),
  })
}
