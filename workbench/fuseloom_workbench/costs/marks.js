// Marks of runs by kind, and their names beside them where there is room.

const SVG = 'http://www.w3.org/2000/svg'
/** An element of a drawing: attributes by name, `on` for listeners, children or texts after. */
function s(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    if (name === 'on') for (const [event, f] of Object.entries(value)) node.addEventListener(event, f)
    else node.setAttribute(name, value)
  }
  node.append(...children.flat().filter(c => c !== null && c !== undefined && c !== false))
  return node
}

const ring = (points, turn = 0) => points.map(([radius, part], k) => {
  const angle = 2 * Math.PI * (part + turn) - Math.PI / 2
  return `${k ? 'L' : 'M'}${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`
}).join('') + 'Z'
const corners = (n, radius, turn) => ring(Array.from({ length: n }, (_, k) => [radius, k / n]), turn)

/** Outlines around (0, 0), of about the same area; all more than 11 px wide. */
const SHAPES = {
  square: 'M-5.5 -5.5H5.5V5.5H-5.5Z',
  diamond: 'M0 -7.4L7.4 0L0 7.4L-7.4 0Z',
  triangle: 'M0 -7.2L7.2 5.6H-7.2Z',
  inverted: 'M0 7.2L7.2 -5.6H-7.2Z',
  hexagon: corners(6, 6.8, 0.5 / 6),
  circle: 'M-6.2 0A6.2 6.2 0 1 0 6.2 0A6.2 6.2 0 1 0 -6.2 0Z',
  star: ring(Array.from({ length: 10 }, (_, k) => [k % 2 ? 3.6 : 8, k / 10])),
}

/** The sign of a run: filled if its result is right, hollow if nobody knows, hollow and crossed if it is wrong. */
function sign(run, kinds) {
  const kind = kinds[run.kind] || kinds.own
  const colour = `var(--${kind.token})`
  const right = run.ok === true
  return [
    s('path', { class: 'shape', d: SHAPES[kind.shape], fill: right ? colour : 'var(--pane)', stroke: right ? 'var(--pane)' : colour, 'stroke-width': right ? 1 : 2 }),
    run.ok === false && s('path', { class: 'cross', d: 'M-2.6 -2.6L2.6 2.6M2.6 -2.6L-2.6 2.6', stroke: 'var(--bad)', 'stroke-width': 1.6, fill: 'none' }),
  ]
}

const widths = new Map()
const ruler = document.createElement('canvas').getContext('2d')
/** How wide a text of 11 px is. */
function wide(text) {
  if (widths.has(text)) return widths.get(text)
  if (widths.size > 5000) widths.clear()
  ruler.font = '11px Roboto, system-ui, "DejaVu Sans", sans-serif'
  const found = ruler.measureText(text).width
  widths.set(text, found)
  return found
}

const apart = (a, b) => a.x1 <= b.x0 || b.x1 <= a.x0 || a.y1 <= b.y0 || b.y1 <= a.y0

/**
 * Places for the names of marks, those that matter most first; a name that would lie on a mark, another name
 * or the frame goes to another side, or is left out.
 * Takes `marks` of {x, y, text} and boxes to keep clear; gives {k, x, y, anchor} of those that are placed.
 */
function placedNames(marks, frame, kept = []) {
  const taken = [...kept, ...marks.map(m => ({ x0: m.x - m.r, x1: m.x + m.r, y0: m.y - m.r, y1: m.y + m.r }))]
  const found = []
  marks.forEach((m, k) => {
    const w = wide(m.text), out = m.r - 7
    for (const [dx, dy, anchor] of [[10, 4, 'start'], [-10, 4, 'end'], [0, -11, 'middle'], [0, 19, 'middle'], [8, -8, 'start'], [-8, -8, 'end'], [8, 16, 'start'], [-8, 16, 'end']]) {
      const x = m.x + dx + out * Math.sign(dx), y = m.y + dy + (anchor === 'middle' ? out * Math.sign(dy) : 0)
      const x0 = anchor === 'start' ? x : anchor === 'end' ? x - w : x - w / 2
      const box = { x0: x0 - 1, x1: x0 + w + 1, y0: y - 10, y1: y + 3 }
      if (box.x0 < frame.x0 || box.x1 > frame.x1 || box.y0 < frame.y0 || box.y1 > frame.y1) continue
      if (!taken.every(other => apart(box, other))) continue
      taken.push(box)
      found.push({ k, x, y, anchor })
      break
    }
  })
  return found
}
