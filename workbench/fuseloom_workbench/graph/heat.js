/** What the things of a drawing can be coloured by: figures of nodes, added up or taken at most in boxes. */
const HEATS = {
  busy: { help: 'node.busy', text: 'Heat: busy', unit: 'cycles busy', join: 'max', run: true },
  waiting: { help: 'node.waits', text: 'Heat: cause of waiting', unit: 'cycles waiting', join: 'sum', run: true },
  tokens: { help: 'tokens', text: 'Heat: tokens', unit: 'tokens, sim.', join: 'sum', run: true },
  expected: { help: 'node.busy', text: 'Heat: estimated cycles', unit: 'cycles, est.', join: 'max' },
  expected_tokens: { help: 'tokens', text: 'Heat: estimated tokens', unit: 'tokens, est.', join: 'sum' },
  bytes: { help: 'bytes', text: 'Heat: bytes', unit: 'bytes of memory traffic, est.', join: 'sum' },
  path: { help: 'path.cycles', text: 'Heat: critical path', unit: 'cycles of the critical path', join: 'sum', run: true },
}
const CAUSES = {
  stall_input: { text: 'waits for input', token: 'wait-input', glyph: '◁' },
  stall_output: { text: 'waits for space', token: 'wait-space', glyph: '▷' },
  stall_memory: { text: 'waits for memory', token: 'wait-memory', glyph: '▤' },
}
const number = value => Math.round(value).toLocaleString('en')

/** From pale yellow to orange-red, light enough for dark text and even in lightness. */
const ramp = share => `hsl(${Math.round(52 - 40 * share)} 95% ${Math.round(93 - 33 * share)}%)`

/** The figures of a kind, by node. */
function figures(heat, kind) {
  if (kind === 'path') return heat.critical?.nodes || {}
  if (kind === 'waiting') return heat.heat?.stall_input || {}
  return heat.heat?.[kind] || {}
}

/** The figure of one thing: a node's, or of a box that of its busiest node or the sum. */
function figure(of, kind, join) {
  const values = of.map(key => kind[key] ?? 0)
  return join === 'max' ? Math.max(0, ...values) : values.reduce((a, b) => a + b, 0)
}

/** How each thing is filled: key -> { fill, glyph, told }; and the most that there is. */
function warmed(heat, mode, things) {
  const { unit, join } = HEATS[mode]
  const result = new Map()
  let most = 0
  if (mode === 'waiting') {
    for (const [key, { info }] of things) {
      const of = info.members || [key]
      const causes = Object.entries(CAUSES).map(([kind, cause]) => [figure(of, heat.heat[kind] || {}, 'sum') / (of.length || 1), cause])
      const [cycles, cause] = causes.reduce((a, b) => b[0] > a[0] ? b : a)
      const share = cycles / Math.max(1, heat.cycles)
      most = Math.max(most, cycles)
      result.set(key, { fill: cycles ? `color-mix(in srgb, var(--${cause.token}) ${Math.round(12 + 55 * Math.min(1, share))}%, #fff)` : '#fff', glyph: cycles ? cause.glyph : '', told: cycles ? `${cause.text} for ${number(cycles)} cycles${of.length > 1 ? ' on average' : ''}` : 'never waits' })
    }
    return { result, most }
  }
  const values = figures(heat, mode)
  const all = new Map([...things].map(([key, { info }]) => [key, figure(info.members || [key], values, join)]))
  most = Math.max(0, ...all.values())
  for (const [key, value] of all) result.set(key, { fill: ramp(most ? value / most : 0), glyph: '', told: `${number(value)} ${unit}` })
  return { result, most }
}
