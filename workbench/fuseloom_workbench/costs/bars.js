// Where the cycles of runs go: a bar per run, in pieces by region or by family of primitives.

const FAMILIES = [['scan', '≡', 'scan'], ['repeat', '↻', 'repeat'], ['join', '∩', 'join'], ['locate', '@', 'locate, drop'], ['values', 'v', 'values'], ['compute', '×', 'compute'], ['acc', 'Σ', 'accumulate'], ['write', '↓', 'write, route']]
const ROW = 27

/** Pieces of a run's bar: colour, sign, name and cycles; none if they are not known. */
function pieces(run, by) {
  if (by === 'family') return FAMILIES.filter(([key]) => run.families[key]).map(([key, glyph, name]) => ({ colour: `var(--${key})`, glyph, name, cycles: run.families[key] }))
  return run.regions.map((r, k) => ({ colour: `var(--r${k % 8 + 1})`, glyph: `${k + 1}`, name: r.name, cycles: r.cycles })).filter(p => p.cycles)
}

/** Bars of the chosen run, of run A beside it, and of others, of the fewest cycles first, as far as there is room. */
function barsPlot(panel, runs, at, by) {
  const chosen = panel.chosen(), pinned = panel.pinned()
  const first = [pinned, chosen].filter((r, k, all) => r && runs.includes(r) && all.indexOf(r) === k)
  const others = runs.filter(r => !first.includes(r)).sort((a, b) => a.cycles - b.cycles)
  const able = [...first, ...others].filter(r => pieces(r, by).length)
  const room = Math.max(1, Math.floor((at.height - MARGIN.bottom - 8) / ROW))
  const shown = able.slice(0, room)
  const names = shown.map(r => wide(panel.nameOf(r)))
  const left = Math.min(Math.max(...names, 20) + 14, at.width * 0.4)
  const sums = shown.map(r => pieces(r, by).reduce((sum, p) => sum + p.cycles, 0))
  const sx = scale([0, Math.max(...sums, 1) * 1.02], false, left, at.width - 10, Math.floor((at.width - left) / 60))
  const bottom = 8 + ROW * room
  const what = by === 'family' ? 'busy cycles, all nodes added' : 'cycles, regions one after another'
  const svg = s('svg', { class: 'plot', width: at.width, height: at.height, viewBox: `0 0 ${at.width} ${at.height}`, role: 'group', 'data-plot': 'bars', 'aria-label': `Where the cycles go, by ${by}: ${what}. ${shown.length} runs; arrow keys go from one to another, Enter loads it.` })
  for (const tick of sx.ticks) svg.append(s('line', { class: 'grid', x1: sx(tick), x2: sx(tick), y1: 4, y2: bottom }), s('text', { class: 'tick', x: sx(tick), y: bottom + 14, 'text-anchor': 'middle' }, brief(tick)))
  svg.append(s('text', { class: 'axis', 'data-help': by === 'family' ? 'node.busy' : 'cycles.simulated', x: (left + at.width - 10) / 2, y: bottom + 30, 'text-anchor': 'middle' }, what))
  const places = shown.map((run, k) => {
    const y = 8 + ROW * k
    const list = pieces(run, by)
    const said = list.map(p => `${p.name} ${full(p.cycles)}`).join(', ')
    const g = s('g', { class: 'mark bar', role: 'button', 'data-id': run.id, 'aria-label': `${panel.nameOf(run)}: ${said} cycles`, on: panel.events(run) })
    g.append(s('rect', { class: 'grab', x: 0, y, width: at.width, height: ROW - 3 }), s('text', { class: 'name', x: left - 6, y: y + 16, 'text-anchor': 'end' }, cut(panel.nameOf(run), left - 10)))
    let from = 0
    for (const p of list) {
      const x0 = sx(from), x1 = sx(from + p.cycles)
      from += p.cycles
      const piece = s('g', { class: 'piece', on: { mousemove: event => panel.tell(event, run, `${p.name}: ${full(p.cycles)} cycles, ${(100 * p.cycles / sums[k]).toFixed(0)} %`) } },
        s('rect', { x: x0, y: y + 2, width: Math.max(x1 - x0, 0.5), height: ROW - 7, fill: p.colour }))
      if (x1 - x0 > 13) piece.append(s('text', { class: 'glyph', x: (x0 + x1) / 2, y: y + 16, 'text-anchor': 'middle' }, p.glyph))
      g.append(piece)
    }
    svg.append(g)
    return { run, x: left, y: -y, node: g }
  })
  panel.walk(svg, places)
  const more = able.length - shown.length, unknown = runs.length - able.length
  return { svg, shown: shown.length, unnamed: 0, gone: 0, more, unknown }
}

/** A text that is not wider than there is room. */
function cut(text, room) {
  if (wide(text) <= room) return text
  let end = text.length
  while (end > 1 && wide(`${text.slice(0, end)}…`) > room) end--
  return `${text.slice(0, end)}…`
}
