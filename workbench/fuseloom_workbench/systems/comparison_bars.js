/** Kernels, bytes between kernels, and arithmetic as bars, system by system; arithmetic that is done again is hatched. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const CHARTS = [
    ['kernels', 'systems.kernels', 'kernels', n => counted(n, 'kernel')],
    ['bytes between kernels', 'systems.between', 'bytes_between', n => [bytes(n).replace(/ .*/, ''), unit(bytes(n).replace(/.* /, ''))]],
    ['FLOPs', 'systems.flops', 'flops', n => [brief(+n.toPrecision(3)), unit('FLOP')]],
  ]
  const charts = h('table', { 'aria-label': 'Bars of all systems' })
  const legend = h('div', { class: 'legend' }, h('span', {}, h('span', { class: 'swatch again' }), 'arithmetic that is done again, beyond that of the unfused scheme'))
  const none = h('p', { class: 'quiet' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'Who fuses most, and who recomputes')), charts, none, legend)

  function draw() {
    if (!there(model)) return
    const v = model.view
    const rows = v.systems.flatMap(one => one.rows ?? [])
    charts.hidden = legend.hidden = !rows.length
    none.hidden = !!rows.length
    none.textContent = !rows.length && v.systems.every(one => one.rows) ? 'No system applies: the table has the reasons.' : v.busy.text && waiting('', v.busy) === 'in line' ? 'The bars come with the first rows.' : 'Nothing is compared yet. Press Compare: five systems fuse the program one after another, which takes seconds to a minute.'
    const most = Object.fromEntries(CHARTS.map(([, , field]) => [field, Math.max(...rows.map(row => row[field] ?? 0), 1)]))
    charts.replaceChildren(h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'scheme'), ...CHARTS.map(([title, key]) => h('th', { scope: 'col' }, h('span', { 'data-help': key }, title))))),
      ...v.systems.map(one => h('tbody', { class: `s-${one.system}` }, h('tr', { class: 'of' }, h('th', { scope: 'rowgroup', colspan: 4 }, one.title, one.rows?.length ? null : h('span', {}, one.rows ? (one.refused.some(x => x.ways.length) ? ' does not apply' : ' given up') : ` ${waiting(one.system, v.busy).split(':')[0]}`))),
        ...(one.rows ?? []).map(row => h('tr', {}, h('th', { scope: 'row', title: row.note || null }, row.way), ...CHARTS.map(([, , field, cell]) => h('td', {}, bar(row, field, most[field], cell))))))))
  }

  function bar(row, field, most, cell) {
    const value = row[field]
    const again = field === 'flops' && row.recompute > 1.005 ? value - value / row.recompute : 0
    const share = n => `width: ${(100 * n / most).toFixed(2)}%`
    return h('span', { class: 'bar' }, h('span', { class: 'track', 'aria-hidden': 'true' }, h('i', { style: share((value ?? 0) - again) }), again ? h('i', { class: 'again', style: share(again) }) : null),
      h('span', { class: 'value' }, ...(value === null ? ['–'] : cell(value))))
  }

  draw()
  model.on('view', draw)
}
