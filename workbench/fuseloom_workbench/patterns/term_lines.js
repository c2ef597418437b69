/** A shape pair: dimensions that are iterated, and those that are computed on. */
function shapeChips(shape) {
  const dims = (kind, name, list) => h('span', { class: `dims ${kind}`, title: `${name}: ${list.length ? list.join(' × ') : 'none'}` }, list.length ? list.join('×') : '·')
  return h('span', { class: 'shape', role: 'img', 'aria-label': `iterated ${list(shape.access)}, computed ${list(shape.compute)}` }, dims('access', 'iterated', shape.access), dims('compute', 'computed', shape.compute))
}

const list = dims => dims.length ? dims.join(' by ') : 'none'

const shapeLegend = () => h('span', { class: 'legend' },
  h('span', {}, h('span', { class: 'dims access' }, '8×8'), ' iterated'), h('span', {}, h('span', { class: 'dims compute' }, '3×3'), ' computed on'))

/** The lines of a term; `pick(path)` is called for a chosen one, and `picked` is the path that is looked at. */
function termLines(term, { label, pick = null, picked = null } = {}) {
  const chosen = picked === null ? null : picked.join()
  const lines = term.lines.map(line => {
    const on = chosen !== null && line.shape && line.path.join() === chosen
    const text = h('code', { style: `margin-left: ${line.depth * 14}px` }, line.text)
    const kinds = ['line', line.new && 'new', line.marked && 'marked', on && 'on'].filter(Boolean).join(' ')
    if (!pick || !line.shape) return h('div', { class: kinds }, text)
    return h('button', { type: 'button', class: kinds, 'aria-pressed': String(!!on), 'data-path': line.path.join('.'), on: { click: () => pick(line.path) } }, text, shapeChips(line.shape))
  })
  return h('div', { class: 'term', role: 'group', 'aria-label': label, tabindex: -1 }, lines,
    term.total > term.lines.length ? h('p', { class: 'quiet' }, `and ${(term.total - term.lines.length).toLocaleString('en')} more lines`) : null)
}
