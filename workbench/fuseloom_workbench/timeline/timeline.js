/** What every node did over time: a strip at any zoom, bars where few intervals are in view. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const RUNS = { a: 'A', b: 'B' }, WORDS = ['busy', 'waits for input', 'waits for room', 'waits for memory'], HELP = ['node.busy', 'node.waits', 'node.waits', 'node.waits']
  const canvas = h('canvas', { tabindex: 0, role: 'application', 'aria-label': 'Timeline of the run. Plus and minus, or W and S, zoom, 0 shows all, left and right, or A and D, move, up and down go from row to row, Enter selects the node, F folds its kernel, Escape clears the area. A table of the same figures is behind the button Table.' })
  const spacer = h('div')
  const plot = h('div', { class: 'plot' }, canvas, spacer)
  const totals = h('div', { class: 'totals', tabindex: 0, role: 'region', 'aria-label': 'Cycles of each node' })
  const bar = h('div', { class: 'bar', role: 'toolbar', 'aria-label': 'Timeline' })
  const note = h('div', { class: 'note', 'data-help': 'timeline.window' }), figures = h('div', { class: 'figures', role: 'region', 'aria-label': 'Figures of the area' })
  const empty = h('div', { class: 'empty' }), tip = h('div', { class: 'tip', hidden: true, 'data-help': 'timeline.window' }), said = h('div', { class: 'said', role: 'status', 'aria-live': 'polite' })
  const probes = Object.fromEntries(['ink', 'ink2', 'ink3', 'line', 'line2', 'pane', 'sunk', 'accent', 'accent-bg', 'crit', 'busy', 'wait-input', 'wait-space', 'wait-memory'].map(name => [name, h('span', { class: 'probe', style: `color: var(--${name})` })]))
  const all = h('div', { class: 'all' }, bar, note, empty, plot, totals, figures, said)
  el.append(all, tip, ...Object.values(probes))

  let at = { from: 0, to: 1 }, total = 1, shape = '', size = { w: 0, h: 0 }
  let options = { all: false, open: new Set(), both: true }, laid = { lines: [], height: 0, hidden: 0 }
  let lit = new Set()  // statements that the pointer is on, in any view
  let exact = null, area = null, answered = null, cursor = 0, number = 0, waiting = 0, timer = 0, wanted = '', asTable = false, dirty = false

  // Toolbar -----------------------------------------------------------------------------------
  const tool = (text, label, f, more = {}) => h('button', { class: 'button', title: label, 'aria-label': text.length > 1 ? null : label, on: { click: f }, ...more }, text)
  const pressed = (button, on) => button.setAttribute('aria-pressed', on)
  const range = h('span', { class: 'range', 'data-help': 'timeline.window' }), legend = h('div', { class: 'legend' })
  const buttons = {
    both: tool('A over B', 'Show the pinned run above', () => { options.both = !options.both; relay() }),
    all: tool('All rows', 'Show rows that do no work, too', () => { options.all = !options.all; relay() }),
    fold: tool('Fold', 'Fold or open all kernels', () => { options.open = options.open.size ? new Set() : new Set(model.view.groups.keys()); relay() }),
    area: tool('Figures', 'Least, mean and most of what is in view; shift and drag for an area', () => select(at.from, at.to, laid.lines)),
    table: tool('Table', 'Cycles of each node as a table', () => { asTable = !asTable; show() }),
    trace: tool('Perfetto…', 'Save every interval of this run as a trace that Perfetto opens; its unit is a cycle', () => ask('trace', 0, Math.max(1, total), 1, []), { 'data-action': 'trace' }),
  }
  bar.append(tool('−', 'Zoom out', () => zoom(2)), tool('+', 'Zoom in', () => zoom(0.5)), tool('0', 'Show the whole run', fit), ...Object.values(buttons), range, legend)
  const again = h('button', { class: 'button', 'data-action': 'events', on: { click: () => model.send_msg({ kind: 'events' }) } }, 'Run again with events')

  // Asking ------------------------------------------------------------------------------------
  function ask(kind, from, to, width, rows) {
    number += 1
    model.send_msg({ kind, number, from, to, width, rows })
    return number
  }
  const letters = () => ['a', 'b'].filter(letter => model.view.runs[letter] && (letter === 'b' || options.both))
  function seen() {
    const top = plot.scrollTop - size.h, bottom = plot.scrollTop + 2 * size.h
    return laid.lines.filter(line => line.y + line.h > top && line.y < bottom).slice(0, 160)
  }
  /** Ask for the window in view, one question at a time, once it has stood still for a moment. */
  function refine() {
    const v = model.view
    if (!v.runs || !letters().some(letter => v.runs[letter].events) || asTable || !size.w) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (waiting && Date.now() - waiting < 4000) { dirty = true; return }
      const rows = seen().map(line => line.number), key = JSON.stringify([shape, at, rows, size.w])
      if (key === wanted || !rows.length) return
      wanted = key
      waiting = Date.now()
      const width = Math.max(16, Math.min(1500, Math.floor((size.w - GUTTER) / 2)))
      ask('window', at.from, at.to, width, rows)
    }, 30)
  }
  function take() {
    const got = JSON.parse(model.answered || '{}')
    if (!got.kind) return
    if (got.problem) { say(got.problem); figures.replaceChildren(h('p', {}, got.problem)); figures.hidden = false }
    if (got.kind === 'window') {
      waiting = 0
      if (!got.problem) {
        got.places = new Map(got.rows.map((n, k) => [n, k]))
        got.numbers = Object.fromEntries(['a', 'b'].filter(r => got[r]).map(r => [r, unpacked(got[r])]))
        exact = got
      }
      if (dirty) { dirty = false; refine() }
      draw()
    } else if (got.kind === 'area' && got.lines) { answered = got; tell() }
    else if (got.kind === 'trace' && got.text) {
      const link = h('a', { href: URL.createObjectURL(new Blob([got.text], { type: 'application/json' })), download: got.name })
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 1000)
      say('The trace was saved. Open it at ui.perfetto.dev; 1 µs there is 1 cycle.')
    }
  }
  const say = text => { said.textContent = text }

  // View --------------------------------------------------------------------------------------
  function fit() { at = { from: 0, to: total }; moved() }
  function zoom(factor, pivot = (at.from + at.to) / 2) {
    const span = Math.max(Math.min(4, total), Math.min(total, Math.round((at.to - at.from) * factor)))
    const from = Math.round(pivot - (pivot - at.from) * span / (at.to - at.from))
    go(from, span)
  }
  function go(from, span) {
    from = Math.max(0, Math.min(total - span, Math.round(from)))
    at = { from, to: from + span }
    moved()
  }
  const moved = () => { draw(); refine() }
  const x = cycle => GUTTER + (cycle - at.from) / (at.to - at.from) * (size.w - GUTTER - 8)
  const cycleAt = px => at.from + (px - GUTTER) / (size.w - GUTTER - 8) * (at.to - at.from)
  const lineAt = py => { const y = py - AXIS + plot.scrollTop; return py < AXIS ? undefined : laid.lines.find(line => y >= line.y && y < line.y + line.h) }

  function relay() {
    laid = linesOf(model.view, { ...options, both: options.both && !!model.view.runs.a })
    cursor = Math.min(cursor, Math.max(0, laid.lines.length - 1))
    pressed(buttons.both, options.both); pressed(buttons.all, options.all); pressed(buttons.fold, !options.open.size)
    buttons.all.textContent = options.all ? 'All rows' : `All rows (${laid.hidden} do no work)`
    spacer.style.height = `${Math.max(0, laid.height + AXIS + 6 - size.h)}px`
    moved()
  }

  function show() {
    if (!there(model)) return
    const v = model.view, ready = !!v.runs
    empty.hidden = ready
    empty.textContent = v.empty || ''
    for (const part of [bar, plot]) part.hidden = !ready
    note.hidden = !v.note
    figures.hidden = !ready || !answered
    totals.hidden = !ready || !asTable
    if (!ready) { note.hidden = true; shape = ''; exact = null; return }
    plot.hidden = asTable
    pressed(buttons.table, asTable)
    buttons.both.hidden = !v.runs.a
    buttons.trace.disabled = buttons.area.disabled = !v.events
    note.replaceChildren(v.note, again)
    total = Math.max(1, ...Object.values(v.runs).map(run => run.cycles))
    const now = JSON.stringify([Object.values(v.runs).map(run => [run.name, run.cycles, run.events]), v.rows.length])
    if (now !== shape) {
      shape = now
      exact = area = answered = null
      figures.hidden = true
      wanted = ''; waiting = 0
      at = { from: 0, to: total }
      options.open = opened(v)
    }
    lay()
    relay()
    if (asTable) tabulate()
  }

  /** Kernels that are open at first: those that the critical path spends most on, up to 40 rows. */
  function opened(v) {
    const works = row => ['a', 'b'].some(r => row[r] && row[r].totals[0] > 0)
    const spent = v.groups.map(() => 0), rows = v.groups.map((_, g) => v.rows.filter(row => row.group === g && works(row)).length)
    for (const [region, node, start, stop] of v.runs.b.path) { const k = rowAt('b', region, node); if (k !== undefined) spent[v.rows[k].group] += stop - start }
    let left = 40
    const open = [...v.groups.keys()].sort((a, b) => spent[b] - spent[a]).filter(g => { const fits = rows[g] <= left; if (fits) left -= rows[g]; return fits })
    return new Set(open)
  }

  function lay() {
    const v = model.view, pieces = v.runs.b.pieces, kept = v.runs.b.path.length
    const key = (kind, text, help) => h('span', { 'data-help': help }, h('i', { class: `key ${kind}`, 'aria-hidden': 'true' }), text)
    legend.replaceChildren(...KINDS.map((kind, k) => key(kind, WORDS[k], HELP[k])),
      kept ? key('path', kept < pieces ? `critical path (${kept} longest of ${grouped(pieces)} pieces)` : 'critical path', 'path.cycles') : '',
      v.runs.a ? h('span', {}, `upper half A (${v.runs.a.name}), lower half B (${v.runs.b.name})`) : '')
  }

  // Drawing -----------------------------------------------------------------------------------
  function colours() {
    const made = Object.fromEntries(Object.entries(probes).map(([name, probe]) => [name, getComputedStyle(probe).color]))
    return { ...made, input: made['wait-input'], space: made['wait-space'], memory: made['wait-memory'] }
  }
  let frame = 0
  const draw = () => { if (!frame) frame = requestAnimationFrame(() => { frame = 0; paint() }) }

  function paint() {
    const v = model.view
    if (!v.runs || plot.hidden || !size.w) return
    const scale = window.devicePixelRatio || 1, context = canvas.getContext('2d'), tone = colours()
    const cells = Math.round(size.w * scale), tall = Math.round(size.h * scale)
    if (canvas.width !== cells || canvas.height !== tall) { canvas.width = cells; canvas.height = tall }
    context.setTransform(scale, 0, 0, scale, 0, 0)
    context.fillStyle = tone.pane
    context.fillRect(0, 0, size.w, size.h)
    context.font = '11px Roboto, system-ui, sans-serif'
    context.textBaseline = 'middle'
    const paints = paintsOf(context, tone)
    context.save()
    context.beginPath(); context.rect(0, AXIS, size.w, size.h - AXIS); context.clip()
    axis(context, tone, false)
    for (const line of laid.lines) {
      const y = line.y + AXIS - plot.scrollTop
      if (y + line.h >= AXIS && y <= size.h) paintLine(context, line, y, paints, tone)
    }
    for (const letter of letters()) path(context, letter, tone)
    chosen(context, tone)
    context.restore()
    axis(context, tone, true)
    const n = at.to - at.from, known = exact && exact.from === at.from && exact.to === at.to
    range.textContent = `cycles ${grouped(at.from)} to ${grouped(at.to)} of ${grouped(total)}` + (known && exact.bars ? ', every interval' : known ? `, exact per ${n / exact.columns < 10 ? (n / exact.columns).toFixed(1) : grouped(n / exact.columns)} cycles` : '')
    canvas.dataset.bars = known && exact.bars ? 'true' : 'false'
    canvas.dataset.from = at.from; canvas.dataset.to = at.to
  }

  function paintLine(context, line, y, paints, tone) {
    const v = model.view, head = line.number < 0, at_ = line === laid.lines[cursor]
    if (head) { context.fillStyle = tone.sunk; context.fillRect(0, y, size.w, line.h) }
    if (line.number === v.selected && !head) { context.fillStyle = tone['accent-bg']; context.fillRect(0, y, size.w, line.h) }
    if (lit.size && v.groups[line.group].statements.split(' ').some(name => lit.has(name))) { context.fillStyle = tone.accent; context.fillRect(0, y, 3, line.h) }
    context.fillStyle = tone.line; context.fillRect(0, y + line.h - 1, size.w, head ? 1 : 0)
    context.fillStyle = line.number === v.selected && !head ? tone.accent : onPath(line) ? tone.crit : head ? tone.ink : tone.ink2
    context.font = `${head || (line.number === v.selected) ? 600 : 400} 11px Roboto, system-ui, sans-serif`
    const text = head ? `${options.open.has(line.group) ? '▾' : '▸'} ${line.label}${options.open.has(line.group) ? '' : ` (${line.rows.length})`}` : line.label
    context.textAlign = head ? 'left' : 'right'
    context.save(); context.beginPath(); context.rect(0, y, GUTTER - 6, line.h); context.clip()
    context.fillText(text, head ? 8 : GUTTER - 8, y + line.h / 2 + 0.5); context.restore()
    if (at_ && el.getRootNode().activeElement === canvas) { context.strokeStyle = tone.accent; context.strokeRect(1.5, y + 0.5, GUTTER - 6, line.h - 1) }
    for (const [letter, bar] of barsOf(line, y)) {
      const nodes = line.rows.filter(k => v.rows[k][letter]).length
      const bars = !head && exact && exact.bars && exact.bars[letter] && exact.places.has(line.number) && at.from >= exact.from && at.to <= exact.to
      if (bars) { paintBars(context, exact.bars[letter][exact.places.get(line.number)], x, bar, paints, 0); continue }
      // the exact cells where they are, and what came with the record around them
      const coarse = coarseOf(letter, line), fine = exactCells(exact, letter, line, nodes)
      if (!fine || exact.from > at.from || exact.to < at.to) paintCells(context, coarse, x, bar, paints)
      if (fine) {
        const left = Math.max(bar.left, x(exact.from)), right = Math.min(bar.right, x(exact.to))
        if (right > left) {
          context.fillStyle = head ? tone.sunk : tone.pane
          if (exact.from > at.from || exact.to < at.to) context.fillRect(left, bar.y, right - left, bar.h)
          paintCells(context, fine, x, { ...bar, left, right }, paints)
        }
      }
    }
  }
  const memo = new Map()
  function coarseOf(letter, line) {
    const key = `${letter}${line.number}/${line.rows.length}`
    if (memo.shape !== model.drawn) { memo.clear(); memo.shape = model.drawn }
    if (!memo.has(key)) memo.set(key, coarseCells(model.view, letter, line))
    return memo.get(key)
  }
  /** The bars of a line: A above B where it has both. */
  function barsOf(line, y) {
    const has = letters().filter(letter => line.rows.some(k => model.view.rows[k][letter]))
    const height = line.h - 6
    const place = (k, n) => ({ y: y + 3 + k * height / n + (k ? 1 : 0), h: height / n - (n > 1 ? 1 : 0), left: GUTTER, right: size.w - 8 })
    return has.map((letter, k) => [letter, place(k, has.length)])
  }

  function axis(context, tone, labels) {
    const step = niceStep(at.to - at.from, (size.w - GUTTER) / 110)
    context.textAlign = 'left'
    context.font = '10.5px Roboto, system-ui, sans-serif'
    if (labels) { context.fillStyle = tone.pane; context.fillRect(0, 0, size.w, AXIS); context.fillStyle = tone.line2; context.fillRect(0, AXIS - 1, size.w, 1); context.fillStyle = tone.ink3; context.fillText('cycle', 8, AXIS / 2) }
    for (let cycle = Math.ceil(at.from / step) * step; cycle <= at.to; cycle += step) {
      if (labels && x(cycle) < size.w - 40) { context.fillStyle = tone.ink3; context.fillText(grouped(cycle), x(cycle) + 3, AXIS / 2) }
      context.fillStyle = tone.line
      context.fillRect(x(cycle), labels ? AXIS - 5 : AXIS, 1, labels ? 5 : size.h)
    }
    for (const letter of letters()) {
      const run = model.view.runs[letter], ends = x(run.cycles)
      if (!labels) for (const region of run.regions.slice(1)) { context.fillStyle = tone.line2; context.fillRect(x(region.begins), letter === 'a' ? AXIS : AXIS, 1, size.h) }
      if (ends < GUTTER || ends > size.w || !model.view.runs.a) continue
      const text = `${RUNS[letter]} ends ${grouped(run.cycles)}`, wide = context.measureText(text).width + 8
      if (labels) { context.fillStyle = tone.pane; const left = Math.min(ends - wide / 2, size.w - wide); context.fillRect(left, 0, wide, AXIS - 5); context.fillStyle = letter === 'b' ? tone.accent : tone.ink2; context.fillText(text, left + 4, AXIS / 2) }
      else { context.strokeStyle = letter === 'b' ? tone.accent : tone.ink3; context.setLineDash([4, 3]); context.beginPath(); context.moveTo(ends, AXIS); context.lineTo(ends, size.h); context.stroke(); context.setLineDash([]) }
    }
  }

  const rowOf = new Map()
  function rowAt(letter, region, node) {
    if (rowOf.shape !== model.drawn) {
      rowOf.clear(); rowOf.shape = model.drawn
      model.view.rows.forEach((row, k) => ['a', 'b'].forEach(r => { if (row[r]) rowOf.set(`${r}${row[r].region}.${row[r].node}`, k) }))
    }
    return rowOf.get(`${letter}${region}.${node}`)
  }
  const onPath = line => model.view.runs.b.path.some(([region, node]) => line.rows.includes(rowAt('b', region, node)))
  /** The critical path: a line along each row while it is there, and between rows. */
  function path(context, letter, tone) {
    const byRow = new Map()
    laid.lines.forEach(line => line.rows.forEach(k => { if (line.number >= 0 || !options.open.has(line.group)) byRow.set(k, line) }))
    let last = null
    context.fillStyle = tone.crit
    for (const [region, node, start, stop] of model.view.runs[letter].path) {
      const line = byRow.get(rowAt(letter, region, node))
      if (!line) continue
      const bar = barsOf(line, line.y + AXIS - plot.scrollTop).find(([r]) => r === letter)[1]
      const y = bar.y + bar.h - 1, left = Math.max(GUTTER, x(start)), right = Math.min(size.w - 8, x(stop))
      if (last && last.stop === start && left > GUTTER && left < size.w - 8) { context.globalAlpha = 0.45; context.fillRect(left, Math.min(y, last.y), 1, Math.abs(y - last.y)); context.globalAlpha = 1 }
      if (right > left) context.fillRect(left, y, Math.max(1, right - left), 2.5)
      last = { stop, y }
    }
  }
  function chosen(context, tone) {
    if (!area) return
    const top = Math.min(area.y0, area.y1) + AXIS - plot.scrollTop, left = Math.max(GUTTER, x(area.from)), right = Math.min(size.w - 8, x(area.to))
    context.globalAlpha = 0.16; context.fillStyle = tone.accent
    context.fillRect(left, top, right - left, Math.abs(area.y1 - area.y0))
    context.globalAlpha = 1; context.strokeStyle = tone.accent
    context.strokeRect(left, top, right - left, Math.abs(area.y1 - area.y0))
  }

  // Area and table ------------------------------------------------------------------------------
  function select(from, to, lines) {
    const numbers = lines.filter(line => line.number >= 0 || !options.open.has(line.group)).map(line => line.number)
    if (!numbers.length || to <= from) return
    if (!model.view.events) { say('Figures of an area need the events of a run.'); return }
    ask('area', Math.max(0, Math.floor(from)), Math.min(total, Math.ceil(to)), 1, numbers)
  }
  function tell() {
    const places = (f, show, help) => ['least', 'mean', 'most'].map(name => h('td', { class: 'figure', 'data-help': help, title: f && f[`${name}_at`] ? `${f[`${name}_at`].node}, from cycle ${grouped(f[`${name}_at`].cycle)}` : '' }, f ? show(f[name]) : '–'))
    const rate = n => n.toFixed(2)
    const row = line => h('tr', {}, h('td', {}, `${RUNS[line.run]} · ${line.region}`), h('td', { class: 'figure', 'data-help': 'nodes' }, grouped(line.nodes)), h('td', { class: 'figure', 'data-help': 'timeline.window' }, `${grouped(line.from)} to ${grouped(line.to)}`),
      ...places(line.busy, percent, 'area.busy'), h('td', { class: 'figure', 'data-help': 'area.busy' }, cycles(line.cell)), ...places(line.tokens, rate, 'area.tokens'), h('td', { class: 'figure', 'data-help': 'area.tokens' }, line.tokens ? cycles(line.token_cell) : '–'))
    const head = (text, help) => h('th', { scope: 'col', class: help && 'figure', 'data-help': help }, text)
    figures.replaceChildren(h('button', { class: 'button', on: { click: clear } }, 'Close'),
      h('table', {}, h('caption', {}, 'Figures of the area, over its nodes and pieces of time'),
        h('thead', {}, h('tr', {}, head('run and region'), head('nodes', 'nodes'), head('cycles', 'timeline.window'), ['busy, least', 'mean', 'most', 'per'].map(text => head(text, 'area.busy')), ['tokens per cycle, least', 'mean', 'most', 'per'].map(text => head(text, 'area.tokens')))),
        h('tbody', {}, answered.lines.map(row))))
    figures.hidden = false
    const line = answered.lines.at(-1)
    say(line ? `${RUNS[line.run]}, ${line.region}: busy at least ${percent(line.busy.least)}, on average ${percent(line.busy.mean)}, at most ${percent(line.busy.most)}` : 'No node runs there.')
  }
  function clear() { area = answered = null; figures.hidden = true; draw() }
  function tabulate() {
    const v = model.view, shown = letters()
    const head = ['node', ...shown.flatMap(r => WORDS.map(word => `${shown.length > 1 ? RUNS[r] + ' ' : ''}${word}`))]
    const row = (line, k) => h('tr', {}, h('td', {}, v.rows[k].b ? h('button', { class: 'link', on: { click: () => pick(k) } }, line.label) : line.label),
      ...shown.flatMap(r => WORDS.map((_, i) => h('td', { class: 'figure', 'data-help': HELP[i] }, v.rows[k][r] ? grouped(v.rows[k][r].totals[i]) : '–'))))
    const open = linesOf(v, { ...options, open: new Set(v.groups.keys()), both: !!v.runs.a }).lines
    totals.replaceChildren(h('table', {}, h('caption', {}, 'Cycles of each node in each activity; the run takes ', h('span', { 'data-help': 'cycles.simulated' }, cycles(v.runs.b.cycles))),
      h('thead', {}, h('tr', {}, head.map((text, k) => h('th', { scope: 'col', class: k > 0 && 'figure', 'data-help': k > 0 ? HELP[(k - 1) % WORDS.length] : null }, text)))),
      h('tbody', {}, open.map(line => line.number < 0 ? h('tr', {}, h('th', { scope: 'rowgroup', colspan: head.length }, line.label)) : row(line, line.number)))))
  }
  function pick(k) {
    const node = model.view.rows[k].b
    if (node) model.send_msg({ kind: 'select', region: node.region, node: node.node })
  }
  function press(line, folding) {
    if (!line) return
    cursor = laid.lines.indexOf(line)
    if (line.number >= 0 && !folding) pick(line.number)
    else { options.open.has(line.group) ? options.open.delete(line.group) : options.open.add(line.group); relay(); cursor = Math.max(0, laid.lines.findIndex(other => other.number === -1 - line.group)) }
    draw()
  }

  // Pointer and keys ----------------------------------------------------------------------------
  const pointer = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top] }
  canvas.addEventListener('wheel', event => {
    const [px] = pointer(event)
    const ours = event.ctrlKey || event.metaKey || el.getRootNode().activeElement === canvas
    if (px < GUTTER || !ours) return
    event.preventDefault()
    const sideways = event.shiftKey ? event.deltaY : event.deltaX
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) go(at.from + sideways / size.w * (at.to - at.from), at.to - at.from)
    else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), cycleAt(px))
  }, { passive: false })
  let begun = null
  draggable(canvas, {
    start: down => { const [px, py] = pointer(down); begun = { at, px, scroll: plot.scrollTop, area: down.shiftKey, y: py - AXIS + plot.scrollTop }; canvas.classList.add('moving'); tip.hidden = true },
    move: (event, dx, dy) => {
      const [px, py] = pointer(event)
      if (!begun.area) { plot.scrollTop = begun.scroll - dy; go(begun.at.from - dx / (size.w - GUTTER - 8) * (begun.at.to - begun.at.from), begun.at.to - begun.at.from); return }
      const ends = [cycleAt(begun.px), cycleAt(px)].sort((a, b) => a - b)
      area = { from: Math.max(at.from, ends[0]), to: Math.min(at.to, ends[1]), y0: begun.y, y1: py - AXIS + plot.scrollTop }
      draw()
    },
    end: done => {
      canvas.classList.remove('moving')
      if (!begun.area || !area) return
      if (!done) { clear(); return }
      const [top, bottom] = [area.y0, area.y1].sort((a, b) => a - b)
      select(area.from, area.to, laid.lines.filter(line => line.y + line.h > top && line.y < bottom))
    },
  })
  canvas.addEventListener('click', event => { if (!canvas.dragged) press(lineAt(pointer(event)[1])) })
  canvas.addEventListener('pointermove', event => {
    const [px, py] = pointer(event), line = lineAt(py)
    shine(line ? model.view.groups[line.group].statements : '')
    tip.hidden = !line || event.buttons > 0
    if (tip.hidden) return
    tip.textContent = about(line, px < GUTTER ? null : cycleAt(px), py)
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 330)}px`
    tip.style.top = `${event.clientY + 16}px`
  })
  canvas.addEventListener('pointerleave', () => { tip.hidden = true })
  const shine = lights(canvas, names => { lit = names; if (canvas.clientWidth) draw() })
  /** What is under the pointer, in words: the interval, or the cycles of the column. */
  function about(line, cycle, py) {
    const v = model.view, lines = [line.number < 0 ? `${line.label}: ${line.rows.length} node${line.rows.length === 1 ? '' : 's'}` : `${line.label} (${v.groups[line.group].name})`]
    const y = line.y + AXIS - plot.scrollTop, shown = barsOf(line, y)
    const one = shown.find(([, bar]) => py >= bar.y && py <= bar.y + bar.h) || shown.at(-1)
    if (cycle === null) {
      for (const [letter] of shown) lines.push(`${v.runs.a ? RUNS[letter] + ': ' : ''}` + WORDS.map((word, i) => `${word} ${grouped(line.rows.reduce((sum, k) => sum + (v.rows[k][letter]?.totals[i] || 0), 0))}`).join(', ') + ' cycles')
      return lines.join('\n')
    }
    if (!one) return lines[0]
    const [letter] = one, run = v.runs.a ? `${RUNS[letter]}: ` : ''
    const place = exact && exact.bars && exact.places.get(line.number)
    if (line.number >= 0 && place !== undefined && place !== null && exact.bars[letter] && cycle >= exact.from && cycle < exact.to) {
      const found = exact.bars[letter][place].find(([, from, length]) => cycle >= from && cycle < from + length)
      lines.push(found ? `${run}${WORDS[found[0]]} from cycle ${grouped(found[1])}, ${cycles(found[2])} long` : `${run}idle`)
      return lines.join('\n')
    }
    const nodes = line.rows.filter(k => v.rows[k][letter]).length
    const fine = exact && cycle >= exact.from && cycle < exact.to && exactCells(exact, letter, line, nodes)
    const cell = (fine || coarseOf(letter, line)).find(c => cycle >= c.from && cycle < c.to)
    if (!cell) { lines.push(`${run}not running at cycle ${grouped(cycle)}`); return lines.join('\n') }
    const parts = WORDS.map((word, i) => cell.spent[i] ? `${word} ${cycles(cell.spent[i])}` : '').filter(Boolean)
    lines.push(`${run}cycles ${grouped(cell.from)} to ${grouped(cell.to)}: ${parts.join(', ') || 'idle'}${fine ? '' : ', spread over a bin'}`)
    return lines.join('\n')
  }
  const keys = {
    '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: fit,
    ArrowLeft: () => go(at.from - (at.to - at.from) / 8, at.to - at.from), ArrowRight: () => go(at.from + (at.to - at.from) / 8, at.to - at.from),
    w: () => zoom(0.5), s: () => zoom(2), a: () => keys.ArrowLeft(), d: () => keys.ArrowRight(),
    ArrowUp: () => step(-1), ArrowDown: () => step(1), Enter: () => press(laid.lines[cursor]), f: () => press(laid.lines[cursor], true), Escape: clear,
  }
  function step(by) {
    cursor = Math.max(0, Math.min(laid.lines.length - 1, cursor + by))
    const line = laid.lines[cursor]
    if (!line) return
    if (line.y < plot.scrollTop) plot.scrollTop = line.y
    if (line.y + line.h + AXIS > plot.scrollTop + size.h) plot.scrollTop = line.y + line.h + AXIS - size.h
    say(about(line, null, 0))
    draw()
  }
  canvas.addEventListener('keydown', event => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key]
    if (!act || !model.view.runs) return
    event.preventDefault()
    event.stopPropagation()
    act()
  })
  for (const name of ['focus', 'blur']) canvas.addEventListener(name, draw)
  plot.addEventListener('scroll', moved)

  const measured = new ResizeObserver(() => {
    if (!plot.clientWidth || !plot.clientHeight) return
    size = { w: plot.clientWidth, h: plot.clientHeight }
    canvas.style.height = `${size.h}px`
    if (model.view.runs) relay()
  })
  measured.observe(plot)
  const theme = new MutationObserver(draw)
  for (const node of [document.documentElement, document.body]) theme.observe(node, { attributes: true })
  const dark = window.matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', draw)
  model.on('remove', () => { measured.disconnect(); theme.disconnect(); dark.removeEventListener('change', draw); clearTimeout(timer) })
  model.on('view', show)
  model.on('answered', take)
  show()
  take()
}
