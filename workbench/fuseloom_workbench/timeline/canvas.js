// What the timeline is drawn with: lines, cells, ticks. Nothing here knows of requests.

const GUTTER = 158, AXIS = 20, SINGLE = 17, DOUBLE = 25, KINDS = ['busy', 'input', 'space', 'memory']

const grouped = n => Math.round(n).toLocaleString('en-US')
const cycles = n => `${grouped(n)} cycle${n === 1 ? '' : 's'}`
const percent = share => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`

/** First cycle of column `k` of `n` between two cycles, as Python counts them. */
const edge = (from, to, n, k) => from + Math.floor((to - from) * k / n)

/** A step of 1, 2 or 5 times a power of ten: about `most` of them fit into a span. */
function niceStep(span, most) {
  const rough = Math.max(1, span / Math.max(1, most))
  const power = 10 ** Math.floor(Math.log10(rough))
  return Math.max(1, [1, 2, 5, 10].map(f => f * power).find(step => step >= rough))
}

/** Groups and rows from top to bottom, those that do nothing and those folded left out. */
function linesOf(view, { all, open, both }) {
  const lines = []
  const works = row => ['a', 'b'].some(r => row[r] && row[r].totals[0] > 0)
  const members = view.groups.map(() => [])
  view.rows.forEach((row, k) => { if (all || works(row)) members[row.group].push(k) })
  let y = 0, hidden = 0
  const add = (line, height) => { lines.push({ ...line, y, h: height }); y += height }
  const tall = k => both && view.rows[k].a && view.rows[k].b
  view.groups.forEach((group, g) => {
    hidden += view.rows.filter(row => row.group === g).length - members[g].length
    if (!members[g].length) return
    add({ number: -1 - g, group: g, label: group.name, rows: members[g] }, both ? DOUBLE : SINGLE)
    if (open.has(g)) for (const k of members[g]) add({ number: k, group: g, label: view.rows[k].label, rows: [k] }, tall(k) ? DOUBLE : SINGLE)
  })
  return { lines, height: y, hidden }
}

/** What came with the record: cells as { from, to, spent: [4], of: cycles } of a line in a run. */
function coarseCells(view, letter, line) {
  const regions = new Map()
  for (const k of line.rows) {
    const node = view.rows[k][letter]
    if (!node) continue
    if (!regions.has(node.region)) regions.set(node.region, [])
    regions.get(node.region).push(node)
  }
  const cells = []
  for (const [number, nodes] of regions) {
    const region = view.runs[letter].regions[number]
    for (let k = 0; k * region.width < region.cycles; k++) {
      const from = region.begins + k * region.width
      const to = Math.min(from + region.width, region.begins + region.cycles)
      const spent = KINDS.map((_, i) => nodes.reduce((sum, node) => sum + (node.bins[i][k] || 0), 0))
      cells.push({ from, to, spent, of: (to - from) * nodes.length })
    }
  }
  return cells
}

/** The numbers of an answer: typed array of rows, activities, columns. */
function unpacked(part) {
  const text = atob(part.data)
  const bytes = new Uint8Array(text.length)
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k)
  const kind = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array }[part.bytes]
  return new kind(bytes.buffer)
}

/** Cells of a line from an answer, as coarseCells has them; null where it was not asked for. */
function exactCells(answer, letter, line, nodes) {
  const at = answer ? answer.places.get(line.number) : undefined
  if (at === undefined || !answer[letter]) return null
  const n = answer.columns, data = answer.numbers[letter], base = at * 4 * n
  const cells = []
  for (let k = 0; k < n; k++) {
    const from = edge(answer.from, answer.to, n, k), to = edge(answer.from, answer.to, n, k + 1)
    cells.push({ from, to, spent: [0, 1, 2, 3].map(i => data[base + i * n + k]), of: (to - from) * nodes })
  }
  return cells
}

/** Paints of the activities: colours, with a pattern for what is not told by lightness. */
function paintsOf(context, colours) {
  const pattern = (colour, draw) => {
    const tile = document.createElement('canvas')
    tile.width = tile.height = 6
    const on = tile.getContext('2d')
    on.fillStyle = colour
    on.fillRect(0, 0, 6, 6)
    on.strokeStyle = on.fillStyle = colours.pane
    draw(on)
    return context.createPattern(tile, 'repeat')
  }
  const diagonal = on => { on.lineWidth = 1.2; on.beginPath(); for (const d of [-6, 0, 6]) { on.moveTo(d, 6); on.lineTo(d + 6, 0) } on.stroke() }
  const dots = on => { on.fillRect(1, 1, 2, 2); on.fillRect(4, 4, 2, 2) }
  return [colours.busy, colours.input, pattern(colours.space, diagonal), pattern(colours.memory, dots)]
}

/** Stack the shares of cells from the bottom of a bar: work, memory, room, input. */
function paintCells(context, cells, x, bar, paints) {
  let last = null
  const flush = () => {
    if (!last) return
    let y = bar.y + bar.h
    for (const i of [0, 3, 2, 1]) {
      const height = last.heights[i]
      if (!height) continue
      context.fillStyle = paints[i]
      context.fillRect(last.x, y - height, last.w, height)
      y -= height
    }
  }
  for (const cell of cells) {
    const left = Math.max(x(cell.from), bar.left), right = Math.min(x(cell.to), bar.right)
    if (right <= bar.left || left >= bar.right || !cell.of) continue
    const heights = cell.spent.map(n => n ? Math.max(0.75, Math.round(4 * bar.h * n / cell.of) / 4) : 0)
    if (last && last.x + last.w >= left - 0.01 && heights.every((height, i) => height === last.heights[i])) {
      last.w = right - last.x
      continue
    }
    flush()
    last = { x: left, w: Math.max(right - left, 0.5), heights }
  }
  flush()
}

/** Intervals as bars of their own: [activity, first cycle, length]. */
function paintBars(context, bars, x, bar, paints, gap) {
  for (const [activity, from, length] of bars) {
    const left = Math.max(x(from), bar.left), right = Math.min(x(from + length), bar.right)
    if (right <= bar.left || left >= bar.right) continue
    const height = activity === 1 ? Math.max(3, bar.h / 3) : bar.h
    context.fillStyle = paints[activity]
    context.fillRect(left, bar.y + bar.h - height, Math.max(right - left - gap, 0.75), height)
  }
}
