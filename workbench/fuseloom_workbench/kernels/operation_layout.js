/** Places of operations: a column for each span that is shown, the results on the right. */
const COLUMN = 132, ROW = 32, NODE = 106, TALL = 23

/** A name in so many characters: what is distinct of it stands at its end. */
const ending = (name, most) => name.length > most ? `…${name.slice(1 - most)}` : name

/** Operations that each one reads, through those that are not shown. */
function shownOperands(operations, shown) {
  const behind = new Map()
  const of = n => {  // operands stand before what reads them, so this ends soon
    if (behind.has(n)) return behind.get(n)
    const found = new Set()
    for (const one of operations[n].operands) for (const at of shown.has(one) ? [one] : of(one)) found.add(at)
    behind.set(n, found)
    return found
  }
  operations.forEach((_, n) => of(n))  // in order, so that none is deep
  return n => behind.get(n)
}

/**
 * `at` has the middle of each operation's left edge; `columns` the spans, from left to right; `edges` pairs of what is read and its reader.
 */
function layoutOperations(operations, shown) {
  const reads = shownOperands(operations, shown)
  const edges = [...shown].flatMap(n => [...reads(n)].map(from => [from, n]))
  const readers = new Map([...shown].map(n => [n, []]))
  for (const [from, to] of edges) readers.get(from).push(to)
  const columns = [...new Set([...shown].map(n => operations[n].span))].sort((a, b) => b - a)
  const members = new Map(columns.map(span => [span, []]))
  for (const n of shown) members.get(operations[n].span).push(n)
  const y = new Map()
  for (const span of [...columns].reverse()) {
    const own = members.get(span)
    const wanted = new Map(own.map((n, k) => {
      const of = readers.get(n).filter(to => y.has(to))
      return [n, of.length ? of.reduce((sum, to) => sum + y.get(to), 0) / of.length : k * ROW]
    }))
    own.sort((a, b) => wanted.get(a) - wanted.get(b) || a - b)
    let last = -Infinity
    for (const n of own) y.set(n, last = Math.max(wanted.get(n), last + ROW))
    const off = own.reduce((sum, n) => sum + y.get(n) - wanted.get(n), 0) / own.length
    for (const n of own) y.set(n, y.get(n) - off)
  }
  const top = Math.min(0, ...y.values())
  const at = new Map([...shown].map(n => [n, { x: columns.indexOf(operations[n].span) * COLUMN, y: y.get(n) - top }]))
  return { at, columns, edges, width: (columns.length - 1) * COLUMN + NODE, height: Math.max(0, ...[...at.values()].map(one => one.y)) + TALL }
}

/** Arrow keys go through places, and one of them takes Tab: `next(key, n)` is where a key leads, from 0 or a neighbour. */
function roving(group, next) {
  group.addEventListener('keydown', event => {
    const now = event.target.closest?.('[data-at]')
    if (!now) return
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); now.dispatchEvent(new MouseEvent('click', { bubbles: true })); return }
    if (!event.key.startsWith('Arrow')) return
    const to = next(event.key, Number(now.dataset.at))
    const node = to !== null && to !== undefined && group.querySelector(`[data-at="${to}"]`)
    if (!node) return
    event.preventDefault()
    now.setAttribute('tabindex', -1)
    node.setAttribute('tabindex', 0)
    node.focus()
    node.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })
}
