/** Recomputation, changes, the flame view from statement to cause, and the difference to run A. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const frame = h('div', { class: 'frame' })
  el.append(frame)
  let root = []  // names of the piece that fills the width, from the run inwards
  let at = []    // names of the piece that keys act on
  let table = 'statement'

  const figure = (key, ...texts) => texts.map(text => h('td', { class: 'figure', 'data-help': key }, text))
  const heads = names => h('thead', {}, h('tr', {}, names.map(([text, key, title]) => h('th', { scope: 'col', class: key && 'figure', 'data-help': key, title }, text))))
  const grid = (label, names, rows, ...foot) => h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, h('table', {}, h('caption', {}, label), heads(names), h('tbody', {}, rows), ...foot))

  function recomputed(v) {
    if (!v.ready) return h('p', { class: 'quiet' }, 'Looking for what is computed more than once.')
    if (!v.recomputed.length) return h('p', { class: 'quiet' }, 'Nothing is computed more than once: no intermediate lies under an index that is not its own.')
    const rows = v.recomputed.map(r => h('tr', { title: r.reason, 'data-tensor': r.tensor },
      h('th', { scope: 'row' }, `${r.kernel === r.tensor ? '' : r.kernel + ', '}${r.tensor}`), figure('recompute.values', r.made, r.needed), figure('recompute.factor', h('span', { class: r.times >= 1.1 ? 'factor' : '' }, r.factor)), h('td', { 'data-help': 'recompute.rows' }, r.rows), h('td', { class: 'wide' }, r.reason)))
    return grid('Computed more than once', [['kernel, tensor'], ['values', 'recompute.values', 'Products or other values that its statement computes in this schedule'], ['needed', 'recompute.values', 'What it computes as a region of its own'], ['factor', 'recompute.factor', 'values / needed'], ['rows', 'recompute.rows'], ['why']], rows)
  }

  function changes(v) {
    if (v.wrong) return h('p', { class: 'quiet' }, 'The result of this run is wrong: nothing is looked for that would make it faster.')
    if (!v.suggestions.length) return v.ready ? h('p', { class: 'quiet' }, 'No change that was tried is expected to save a hundredth of the cycles.') : ''
    const rows = v.suggestions.map(s => h('tr', { title: s.sentence },
      h('td', {}, s.applies ? h('button', { class: 'button', 'data-apply': s.text, on: { click: () => model.send_msg({ kind: 'apply', text: s.text }) } }, s.text) : h('span', {}, s.text, h('span', { class: 'quiet' }, ' (no schedule does this)'))),
      figure('promise.estimated', s.applies ? s.promise : '–'), figure('promise.bound', s.bound), figure('promise.saved', s.saves || '–'), h('td', {}, s.hardware ? 'other hardware' : 'schedule')))
    return grid('What would help', [['change'], ['cycles', 'promise.estimated', 'Expected by the estimate'], ['at least', 'promise.bound', 'Cycles that a run takes at least, whatever happens: proven'], ['saves', 'promise.saved', 'Of the cycles now, as estimated'], ['needs']], rows)
  }

  // The flame view -------------------------------------------------------------------------
  const find = (names, from) => names.reduce((piece, name) => piece && piece.parts.find(p => p.name === name), from)

  function flame(v) {
    const run = v.flame
    if (!run) return h('p', { class: 'quiet' }, 'No run of this configuration yet. Press Run to see where its cycles go.')
    const top = find(root, run) || (root = [], run)
    const rows = [], boxes = h('div', { class: 'flame', role: 'tree', 'aria-label': `Where ${run.text} went: region, statement, index, node, cause` })
    const place = (piece, names, left, depth) => {
      rows[depth] = true
      const width = 100 * piece.cycles / Math.max(top.cycles, 1)
      const share = (100 * piece.cycles / Math.max(run.cycles, 1)).toFixed(1)
      const said = `${piece.level} ${piece.name}: ${piece.cycles.toLocaleString('en')} of ${run.cycles.toLocaleString('en')} cycles, ${share} %`
      boxes.append(h('div', { class: `piece ${piece.level}`, role: 'treeitem', tabindex: -1, 'aria-level': depth + 1, 'aria-label': said, title: said, 'data-help': 'path.cycles', 'data-at': JSON.stringify(names),
        style: `left:${left}%;width:max(${width}% - 1px, 1px);top:${depth * 23}px;background:var(--${piece.level === 'node' || piece.level === 'region' ? piece.colour + '-f' : 'pane'});border-color:var(--${piece.colour})`,
        on: { click: () => { pick(names); zoom(names) }, focus: () => { at = names } } }, width > 3 ? `${piece.level === 'index' && piece.name !== 'values' ? 'index ' : ''}${piece.name}${width > 9 ? ' ' + piece.cycles.toLocaleString('en') : ''}` : ''))
      let x = left
      for (const part of piece.parts) {
        if (part.cycles) place(part, [...names, part.name], x, depth + 1)
        x += 100 * part.cycles / Math.max(top.cycles, 1)
      }
    }
    place(top, root, 0, 0)
    boxes.style.height = `${rows.length * 23}px`
    const first = [...boxes.children].find(b => b.dataset.at === JSON.stringify(at)) || boxes.firstChild
    first.tabIndex = 0
    boxes.addEventListener('keydown', walk)
    return h('section', {}, h('div', { class: 'title' }, h('b', {}, 'Where the cycles went'), h('span', { class: 'quiet' }, h('span', { 'data-help': 'cycles.simulated' }, run.text), ` in all; below each part, what it is the sum of. ${v.explained ? '' : 'Regions that were not explained are one part each.'}`),
      root.length ? h('button', { class: 'button small', 'data-action': 'whole', on: { click: () => zoom([]) } }, '↑ The whole run') : ''), boxes)
  }

  function zoom(names) {
    const piece = find(names, model.view.flame)
    root = piece && piece.parts.length ? names : names.slice(0, -1)
    at = names
    draw(true)
  }

  function pick(names) {
    const piece = find(names, model.view.flame)
    if (!piece || piece.region === null) return
    model.send_msg(piece.node === null ? { kind: 'select', region: piece.region } : { kind: 'select', region: piece.region, node: piece.node })
  }

  function walk(event) {
    const up = find(at.slice(0, -1), model.view.flame), piece = find(at, model.view.flame)
    const beside = up && at.length ? up.parts.filter(p => p.cycles) : []
    const k = beside.findIndex(p => p.name === at[at.length - 1])
    const to = { ArrowRight: beside[k + 1] && [...at.slice(0, -1), beside[k + 1].name], ArrowLeft: beside[k - 1] && [...at.slice(0, -1), beside[k - 1].name],
      ArrowDown: piece && piece.parts[0] && [...at, piece.parts[0].name], ArrowUp: at.length > root.length && at.slice(0, -1) }[event.key]
    if (event.key === 'Enter' || event.key === ' ') { pick(at); zoom(at) } else if (event.key === 'Escape' && root.length) zoom([])
    else if (to) {
      at = to
      for (const box of event.currentTarget.children) box.tabIndex = box.dataset.at === JSON.stringify(at) ? 0 : -1
      event.currentTarget.querySelector('[tabindex="0"]')?.focus()
    } else return
    event.preventDefault()
    event.stopPropagation()
  }

  function difference(v) {
    const d = v.difference
    if (!d) return h('p', { class: 'quiet' }, v.run ? 'Pin another run of this program as A (P on a run) to see which statements, nodes and causes the difference lies in.' : '')
    const shown = d.tables.find(t => t.name === table) || d.tables[0]
    const rows = shown.rows.map(r => h('tr', {}, h('th', { scope: 'row' }, r.within ? `${r.within}, ${r.name}` : r.name), figure('path.cycles', r.a, r.b), h('td', { 'data-help': 'cycles.against', class: `figure ${r.same ? '' : r.slower ? 'down' : 'up'}` }, r.more)))
    const choose = h('div', { class: 'choose', role: 'group', 'aria-label': 'Difference by' }, d.tables.map(t => h('button', { class: 'button small', 'aria-pressed': String(t === shown), 'data-by': t.name, on: { click: () => { table = t.name; draw() } } }, `by ${t.name}`)))
    return h('section', {}, choose, grid(`${d.b} against A (${d.a}), cycles of the critical path by ${shown.name}`, [[shown.name], ['A', 'path.cycles'], ['B', 'path.cycles'], ['B − A', 'cycles.against']], rows,
      h('tfoot', {}, h('tr', {}, h('th', { scope: 'row' }, 'run'), figure('cycles.simulated', ...d.cycles.slice(0, 2)), figure('cycles.against', d.cycles[2])))))
  }

  function draw(focus) {
    if (!there(model)) return
    const v = model.view
    const inside = focus === true || el.getRootNode().activeElement?.closest?.('.flame')
    const scrolls = [...frame.querySelectorAll('.scroll')].map(s => s.scrollTop)
    frame.replaceChildren(flame(v), h('div', { class: 'columns' }, h('div', {}, recomputed(v), changes(v)), h('div', {}, difference(v))))
    frame.querySelectorAll('.scroll').forEach((s, k) => { s.scrollTop = scrolls[k] || 0 })
    if (inside) frame.querySelector('.flame [tabindex="0"]')?.focus()
  }

  model.on('view', () => draw())
  draw()
}
