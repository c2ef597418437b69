// The table of runs, sorted by any column, and what each choice explains.

const COLUMNS = [
  ['name', 'configuration', r => r.name.toLowerCase(), 1],
  ['model', 'model · data', r => r.model.toLowerCase(), 1],
  ['machine', 'machine', r => r.machine.toLowerCase(), 1],
  ['estimated', 'estimated (cycles)', r => r.estimated, 1, 'cycles.estimated'],
  ['cycles', 'simulated (cycles)', r => r.cycles, 1, 'cycles.simulated'],
  ['speedup', 'speed‑up vs unfused', r => r.speedup, -1, 'speedup.unfused'],
  ['flops', 'FLOPs', r => r.flops, 1, 'flops'],
  ['bytes', 'bytes moved', r => r.bytes, 1, 'bytes'],
  ['energy', 'energy (nJ)', r => r.energy, 1, 'energy'],
  ['area', 'area (LUTs)', r => r.area, 1, 'area'],
  ['on_chip', 'on chip (bytes)', r => r.on_chip, 1, 'on_chip'],
  ['lanes', 'lanes', r => r.lanes, 1, 'lanes'],
  ['ok', 'check', r => r.ok === null ? 1 : r.ok ? 0 : 2, 1, 'error.result'],
]
const FIRST_FIGURE = 3

/** Runs in the order of a column; what is not known comes last in both directions. */
function sorted(runs, [key, way]) {
  const of = COLUMNS.find(([name]) => name === key)[2]
  const empty = v => v === null || v === undefined
  return [...runs].sort((a, b) => {
    const x = of(a), y = of(b)
    if (empty(x) || empty(y)) return empty(x) - empty(y)
    return (x < y ? -1 : x > y ? 1 : 0) * way
  })
}

function rankingTable(panel, runs, order, reorder) {
  const heads = COLUMNS.map(([key, text, , way, help], k) => {
    const on = order[0] === key
    const next = on ? -order[1] : way
    return h('th', { scope: 'col', class: k >= FIRST_FIGURE && k < COLUMNS.length - 1 ? 'figure' : null, 'aria-sort': on ? (order[1] > 0 ? 'ascending' : 'descending') : null },
      h('button', { class: 'sort', 'data-sort': key, 'data-help': help, title: `Sort by ${text}`, on: { click: () => reorder([key, next]) } }, text, h('span', { 'aria-hidden': 'true' }, on ? (order[1] > 0 ? ' ↑' : ' ↓') : '')))
  })
  return h('table', { 'aria-label': 'Runs' }, h('thead', {}, h('tr', {}, heads)), h('tbody', {}, sorted(runs, order).map(run => row(panel, run))))
}

function row(panel, r) {
  const kind = panel.kinds[r.kind] || panel.kinds.own
  const figure = (help, text, title) => h('td', { class: 'figure', 'data-help': help, title }, text)
  const count = value => value === null || value === undefined ? '—' : full(value)
  const classes = ['line', panel.current(r) && 'current', panel.pinned() === r && 'pinned'].filter(Boolean).join(' ')
  return h('tr', { class: classes, 'data-id': r.id, 'data-run': r.key ? null : r.number, 'data-kept': r.key || null, on: { mouseenter: () => panel.heat(r.id), mouseleave: () => panel.heat(null) } },
    h('th', { scope: 'row' }, h('span', { class: 'sign', style: `color:var(--${kind.token})`, 'aria-hidden': 'true', title: kind.text }, kind.sign), ' ',
      h('button', { class: 'link', title: `${r.schedule}\n${kind.text}\n${r.key ? 'Take over this schedule; Undo goes back' : 'Go back to this configuration'}`, on: { click: () => panel.load(r) } }, r.name),
      panel.pinned() === r && h('b', { class: 'letter', title: 'Pinned: others are compared with it' }, 'A'),
      panel.current(r) && h('span', { class: 'quiet' }, ' (shown)')),
    h('td', { class: 'wraps' }, r.model, r.standin && h('span', { class: 'badge standin', title: r.standin }, '⚠ stand-in: NOT the real graph'),
      r.key && h('span', { class: 'badge kept', title: `In the run store since ${r.when}` }, 'kept'), r.key && h('span', { class: 'quiet day' }, ` ${r.when.slice(0, 10)} `),
      r.engine && h('span', { class: 'badge old', title: `Engine ${r.engine}: its figures may differ from those of this engine` }, 'another engine'),
      r.refused && h('span', { class: 'badge old', title: r.refused }, 'not legal here')),
    h('td', {}, r.machine),
    figure('cycles.estimated', count(r.estimated && Math.round(r.estimated)), sure(r)), figure('cycles.simulated', count(r.cycles)), figure('speedup.unfused', r.speedup ? `${r.speedup.toFixed(2)}×` : '—'),
    figure('flops', count(r.flops && Math.round(r.flops))), figure('bytes', count(r.bytes && Math.round(r.bytes)), r.moved ? `${full(r.moved)} bytes came from the memory or went there` : null),
    figure('energy', count(r.energy && 1e9 * r.energy)), figure('area', count(r.area && Math.round(r.area)), hardware(r)), figure('on_chip', count(r.on_chip), chip(r)), figure('lanes', count(r.lanes)), h('td', {}, verdict(r)))
}

function verdict(r) {
  const [kind, text] = r.ok === null ? ['badge old', '? not known'] : r.ok ? ['badge good', '✓ matches'] : ['badge wrong', '✕ MISMATCH']
  return h('span', { class: kind, 'data-help': 'error.result', title: r.check }, text)
}

const BASIS = { exact: 'the graph executed on coordinates', sampled: 'the graph executed on some coordinates', metadata: 'statistics alone' }
/** How sure an estimate is, in words. */
function sure(r) {
  if (!known(r.estimated)) return 'Nobody has estimated this run'
  if (!r.basis) return 'What this estimate rests on was not kept'
  const high = known(r.high) ? full(r.high) : 'any number of'
  return `Rests on ${BASIS[r.basis] || r.basis}; between ${full(r.low)} and ${high} cycles expected, 19 times out of 20`
}

/** What is counted as area, in words, or why it is not known. */
function hardware(r) {
  if (known(r.area)) return 'Lookup tables of the hardware of the region that needs the most'
  return r.no_area || 'Not known for this run'
}

/** What is counted as memory on chip, in words. */
function chip(r) {
  if (!known(r.on_chip)) return 'Not known for this run'
  return `What accumulators and replayers hold in the region that needs the most${r.bounded ? ', and the room of all channels' : '; channels have no bound here and are not counted'}`
}

function importanceTable({ runs, least, shares }) {
  const head = h('h4', {}, 'Importance of each choice ', h('span', { class: 'quiet', 'data-help': 'count.runs' }, `${runs} run${runs === 1 ? '' : 's'} of this model and data`))
  if (runs < least) return h('section', { class: 'importance', 'aria-label': 'Importance of each choice' }, head, h('p', { class: 'quiet' }, `Needs at least ${least} runs of this model and data.`))
  if (!shares.length) return h('section', { class: 'importance', 'aria-label': 'Importance of each choice' }, head, h('p', { class: 'quiet' }, 'No choice has two values with two runs each yet.'))
  const line = one => h('tr', {}, h('th', { scope: 'row' }, one.choice),
    h('td', { class: 'figure', 'data-help': 'importance' }, h('span', { class: 'share', 'aria-hidden': 'true' }, h('i', { style: `width:${(100 * one.share).toFixed(0)}%` })), ` ${(100 * one.share).toFixed(0)} %`), h('td', { class: 'figure', 'data-help': 'count.runs' }, one.runs),
    h('td', { class: 'values', 'data-help': 'cycles.mean' }, one.values.slice(0, 4).map((v, k) => [k ? ', ' : '', h('span', { class: 'mono' }, v.text), ` ${full(Math.round(v.cycles))} (${v.runs})`]).flat(), one.values.length > 4 && `, ${one.values.length - 4} more`))
  return h('section', { class: 'importance', 'aria-label': 'Importance of each choice' }, head,
    h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'choice'), h('th', { scope: 'col', class: 'figure', 'data-help': 'importance', title: 'Epsilon squared: what groups of runs with the same value explain of the variance of log cycles, adjusted for chance' }, 'explains, of log cycles'), h('th', { scope: 'col', class: 'figure', 'data-help': 'count.runs' }, 'runs'), h('th', { scope: 'col', 'data-help': 'cycles.mean' }, 'mean cycles by value (runs), fastest first'))),
      h('tbody', {}, shares.map(line))),
    h('p', { class: 'quiet' }, 'One choice at a time, adjusted for chance (ε²). Choices go together in these runs, so shares do not add up, and none is a proof of cause.'))
}
