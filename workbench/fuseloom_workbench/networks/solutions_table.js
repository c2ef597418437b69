/** All nests as a table: predicted and measured times, loops, layouts, workspaces. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const head = h('div', { class: 'head' })
  const wrap = h('div', { class: 'wrap', tabindex: -1 })
  const filter = h('select', { 'aria-label': 'Which nests', on: { change: draw } }, ...['all ways', 'fused', 'unfused', 'n-ary'].map(t => h('option', {}, t)))
  const measure = h('button', { class: 'button primary', type: 'button', title: 'The eight expected to be fastest, the best of each way and the solver’s first', on: { click: () => model.send_msg({ kind: 'measure', number: -1 }) } }, 'Compile and run the best')
  const one = h('button', { class: 'button', type: 'button', on: { click: () => model.send_msg({ kind: 'measure', number: model.view.chosen }) } }, 'Run the chosen one too')
  el.append(head, wrap)


  function draw() {
    if (!there(model)) return
    const v = model.view
    if (!v.rows) return
    const rows = v.rows.filter(row => filter.value === 'all ways' || row.way === filter.value)
    const ways = v.ways ? Object.entries(v.ways).map(([way, n]) => `${n.toLocaleString('en')} ${way}`).join(', ') : ''
    head.replaceChildren(h('b', {}, `${v.total.toLocaleString('en')} distinct nests`), h('span', { class: 'quiet' }, [ways, v.complete ? '' : 'of more than were looked at', rows.length < v.total ? `${rows.length.toLocaleString('en')} shown` : ''].filter(Boolean).join(' · ')),
      h('span', { class: 'does' }, filter, measure, one))
    measure.disabled = one.disabled = v.busy || !v.total
    if (!v.total) {
      wrap.replaceChildren(h('p', { class: 'quiet' }, v.reason || 'No nest has what is asked. Allow the intermediates more dimensions, or remove a pin.'))
      return
    }
    const top = wrap.scrollTop
    const focused = wrap.getRootNode().activeElement?.dataset?.number
    wrap.replaceChildren(h('table', { role: 'grid', 'aria-label': 'Loop nests' },
      h('thead', {}, h('tr', {}, ...['', 'way', 'expected', 'measured', '× best', 'products', 'workspaces', 'loops', 'layouts of operands'].map(t => h('th', { scope: 'col' }, t)))),
      h('tbody', {}, rows.map(row => rowOf(row, v)))))
    wrap.scrollTop = top
    if (focused !== undefined) wrap.querySelector(`[data-number="${focused}"]`)?.focus({ preventScroll: true })
  }

  function rowOf(row, v) {
    const chosen = row.number === v.chosen
    const look = event => {
      event.currentTarget.focus()
      model.send_msg({ kind: 'look', number: row.number })
    }
    const took = row.wrong ? h('td', { class: 'wrong' }, 'wrong result') : h('td', { title: row.error === null ? null : `largest relative error ${row.error.toExponential(1)}` }, row.measured === null ? '' : time(row.measured))
    return h('tr', { class: chosen ? 'on' : null, tabindex: chosen || (v.chosen === undefined || v.chosen === null) ? 0 : -1, 'aria-selected': String(chosen), 'data-number': row.number, on: { click: look, keydown: event => {
      const to = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key]
      if (to) event.currentTarget[to]?.click()
      else if (event.key === 'Enter' || event.key === ' ') look(event)
      else return
      event.preventDefault()
    } } },
    h('td', {}, row.first ? h('span', { class: 'badge', title: 'Z3 gave this one first' }, 'solver’s first') : `${row.number + 1}`),
    h('td', {}, row.way), h('td', { class: 'quiet' }, time(row.predicted)), took,
    h('td', {}, row.measured === null || v.best === null || v.best === undefined ? '' : (row.measured / v.best).toFixed(2)),
    h('td', {}, row.products.toLocaleString('en', { maximumSignificantDigits: 3 })), h('td', {}, bytes(row.workspace)),
    h('td', { class: 'mono' }, row.loops.join('  ')), h('td', { class: 'mono quiet' }, row.layouts.join('  ')))
  }

  draw()
  model.on('view', draw)
}
