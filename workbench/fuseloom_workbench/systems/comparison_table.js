/** A row for each system and scheme, every number with its unit; what does not apply is a dimmed row with its reason. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const of = h('span', { class: 'quiet' })
  const wrap = h('div', { class: 'wrap', tabindex: 0, role: 'group', 'aria-label': 'Rows of all systems' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'All systems'), of), wrap,
    h('p', { class: 'quiet' }, 'Each result is compared with one reference in float64. Simulated cycles, predictions and times by the clock of this server are different things: compare them within their column. Sparse systems count the arithmetic of what is stored, dense ones that of every element.'))

  function draw() {
    if (!there(model)) return
    const v = model.view
    of.textContent = v.name ? `${v.own ? 'your ' : ''}${v.name}, ${v.statements.toLocaleString('en')} statement${v.statements === 1 ? '' : 's'}, data ${v.label}, seed ${v.seed}` : ''
    const at = wrap.scrollLeft
    wrap.replaceChildren(h('table', { 'aria-label': 'Comparison' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col', class: 'system' }, 'system'), h('th', { scope: 'col', class: 'way' }, 'scheme'), ...COLUMNS.map(([text, key]) => h('th', { scope: 'col' }, h('span', { 'data-help': key }, text))))),
      ...v.systems.map(one => h('tbody', { 'data-system': one.system }, ...rows(one, v.busy)))))
    wrap.scrollLeft = at
  }

  function rows(one, busy) {
    const title = count => h('th', { scope: 'rowgroup', rowspan: count, class: 'system' }, one.title, h('small', {}, one.machine))
    const wide = text => h('td', { colspan: COLUMNS.length + 1, class: 'reason' }, text)
    if (!one.rows) return [h('tr', { class: 'none' }, title(1), wide(waiting(one.system, busy)))]
    if (!one.rows.length) return [h('tr', { class: 'none' }, title(1), wide(one.refused.map(x => refusal(x, one.refused.length === 1)).join('; ')))]
    const count = one.rows.length + (one.refused.length ? 1 : 0)
    const made = one.rows.map((row, n) => h('tr', { class: row.right ? null : 'wrong' }, n ? null : title(count),
      h('th', { scope: 'row', class: 'way', title: row.note || null }, row.way, row.note ? h('small', {}, row.note) : null),
      ...COLUMNS.map(([, key, cell]) => h('td', { class: key === 'systems.recompute' && row.recompute > 1.005 ? 'more' : null, 'data-help': cell(row) ? key : null }, cell(row) ?? h('span', { class: 'nothing', 'aria-label': 'none' }, '–')))))
    if (one.refused.length) made.push(h('tr', { class: 'none' }, wide(one.refused.map(x => refusal(x, false)).join('; '))))
    return made
  }

  draw()
  model.on('view', draw)
}
