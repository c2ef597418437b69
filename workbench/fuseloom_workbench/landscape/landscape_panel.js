/** The map of pairs of moves: a triangle of places, a row and a column per gap; single moves on the diagonal. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const ask = on => model.send_msg({ kind: 'map', on })
  const begin = h('button', { class: 'button primary', 'data-action': 'map', on: { click: () => ask(true) } }, 'Map pairs of moves')
  const stop = h('button', { class: 'button', 'data-action': 'close', on: { click: () => ask(false) } })
  const bar = h('progress', { max: 1, 'aria-label': 'Progress of the map' })
  const note = h('p', { class: 'note', role: 'status', 'data-help': 'cycles.estimated' })
  const table = h('table', { role: 'grid', 'aria-label': 'Estimated cycles after two moves' })
  const place = h('div', { class: 'told' })
  const scale = h('div', { class: 'scale' })
  const map = h('div', { class: 'map' }, h('div', { class: 'frame' }, table, scale), place)
  el.append(h('div', { class: 'line' }, begin, stop, bar, note))
  let at = null  // the place that is told of: its gaps
  let layout = ''
  let said = ''  // what is told of it

  const key = pair => pair.join(',')
  const cellOf = pair => table.querySelector(`[data-pair="${key(pair)}"]`)

  function build(v) {
    const n = v.gaps.length
    table.style.setProperty('--cell', `${Math.max(13, Math.min(30, Math.floor(620 / n)))}px`)
    const rows = v.gaps.map((row, r) => h('tr', {}, h('th', { scope: 'row', 'data-gap': row.gap, title: row.cut ? 'cut in the design mapped' : 'fused in the design mapped' }, row.name),
      v.gaps.slice(0, r + 1).map(column => h('td', {}, h('button', {
        class: 'cell unknown', 'data-pair': `${column.gap},${row.gap}`, tabindex: -1,
        on: {
          click: () => take([column.gap, row.gap]),
          pointerenter: () => tell([column.gap, row.gap]),
          focus: () => tell([column.gap, row.gap]),
        },
      })))))
    table.replaceChildren(h('tbody', {}, rows))
    at = at && cellOf(at) ? at : [v.gaps[0].gap, v.gaps[0].gap]
  }

  table.addEventListener('keydown', event => {
    const v = model.view, step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
    const from = event.target.dataset.pair?.split(',').map(Number)
    if (!step || !from) return
    const index = gap => v.gaps.findIndex(g => g.gap === gap)
    const column = index(from[0]) + step[0], row = index(from[1]) + step[1]
    event.preventDefault()
    event.stopPropagation()
    if (column < 0 || row >= v.gaps.length || column > row) return
    cellOf([v.gaps[column].gap, v.gaps[row].gap]).focus()
  })

  function take(pair) {
    const found = cells.get(key(pair))
    if (found && found[2] !== null) model.send_msg({ kind: 'take', gaps: pair })
  }

  let cells = new Map()

  const move = (v, gap) => { const g = v.gaps.find(x => x.gap === gap); return `${g.cut ? 'fuse' : 'cut'} at ${g.name}` }
  const moves = (v, pair) => pair[0] === pair[1] ? move(v, pair[0]) : `${move(v, pair[0])} and ${move(v, pair[1])}`

  /** What is known of the place that is pointed at, and of those that have names. */
  function tell(pair) {
    const v = model.view
    if (at) cellOf(at)?.setAttribute('tabindex', '-1')
    at = pair
    cellOf(pair)?.setAttribute('tabindex', '0')
    for (const head of table.querySelectorAll('th')) head.classList.toggle('on', pair.includes(+head.dataset.gap))
    const found = cells.get(key(pair))
    const now = JSON.stringify([pair, found, marks(v), v.far])
    if (now === said) return  // what a hand points at there stays
    said = now
    const text = moves(v, pair)
    const shown = found ? found[3] : 'not estimated yet'
    const tone = found && found[2] !== null && Math.abs(found[2]) > 1e-9 ? (found[2] < 0 ? 'better' : 'worse') : null
    place.replaceChildren(
      h('h3', {}, text[0].toUpperCase() + text.slice(1)),
      h('p', { class: tone, 'data-help': 'cycles.change' }, shown), found?.[4] && h('p', { class: 'note' }, found[4]),
      legend(v))
  }

  /** Places with names, each a way to go there. */
  function legend(v) {
    const entry = ([sign, pair, name]) => [h('dt', {}, sign), h('dd', {}, pair[0] ? h('button', { class: 'link', 'data-mark': name, on: { click: () => cellOf(pair).focus() } }, name) : `${name}: no move away`)]
    return h('div', {}, h('dl', {}, marks(v).flatMap(entry), v.far.flatMap(text => [h('dt', {}, '↗'), h('dd', { class: 'quiet' }, text)])))
  }

  function marks(v) {
    const signs = { 'the design shown': '●', 'found by the search': '★' }
    const named = v.marks.map(([a, b, name]) => [signs[name] ?? name.replace('preset ', '')[0].toUpperCase(), [a, b], name])
    return v.best ? [['◎', v.best, 'the fewest cycles on this map'], ...named] : named
  }

  function draw() {
    if (!there(model)) return
    const v = model.view
    begin.hidden = v.mapped && (v.own || !v.whole)
    begin.disabled = !v.mapped && !!v.why
    begin.textContent = v.mapped ? 'Map this design instead' : 'Map pairs of moves'
    stop.hidden = !v.mapped
    if (v.mapped) el.append(map)
    else map.remove()
    bar.hidden = !v.mapped || v.whole
    if (!v.mapped) {
      note.textContent = v.why || `Estimates ${v.total.toLocaleString('en')} designs: each boundary between kernels cut or fused, alone and with each other one.`
      cells = new Map()
      layout = ''
      return
    }
    stop.textContent = v.whole ? 'Close' : 'Cancel'
    bar.value = v.done / Math.max(1, v.total)
    note.textContent = v.whole && v.done === v.total ? `${v.total.toLocaleString('en')} designs, one or two moves from that of est. ${v.now}` : v.whole ? `${v.done.toLocaleString('en')} of ${v.total.toLocaleString('en')} designs; the others took too long` : `${v.done.toLocaleString('en')} of ${v.total.toLocaleString('en')} designs, from that of est. ${v.now}`
    const wanted = JSON.stringify(v.gaps)
    if (wanted !== layout) { layout = wanted; build(v) }
    cells = new Map(v.cells.map(cell => [`${cell[0]},${cell[1]}`, cell]))
    const most = Math.max(.05, ...v.cells.map(cell => Math.abs(cell[2] ?? 0)))
    const named = new Map(marks(v).filter(([, pair]) => pair[0]).map(([sign, pair, name]) => [key(pair), [sign, name]]).reverse())
    for (const button of table.querySelectorAll('.cell')) {
      const found = cells.get(button.dataset.pair), mark = named.get(button.dataset.pair)
      const power = found?.[2]
      button.className = 'cell' + (!found ? ' unknown' : power === null ? ' refused' : Math.abs(power) < 1e-9 ? ' zero' : '') + (mark ? ' marked' : '')
      button.style.setProperty('--c', power < 0 ? 'var(--good)' : 'var(--bad)')
      button.style.setProperty('--share', `${Math.round(15 + 70 * Math.abs(power ?? 0) / most)}%`)
      button.replaceChildren(...(mark ? [h('b', { 'aria-hidden': 'true' }, mark[0])] : []))
      const pair = button.dataset.pair.split(',').map(Number)
      button.setAttribute('aria-label', `${moves(v, pair)}: ${found ? found[3] : 'not estimated yet'}${mark ? `; ${mark[1]}` : ''}`)
      button.setAttribute('aria-disabled', String(!found || power === null))
    }
    const factor = (2 ** most).toFixed(2)
    scale.replaceChildren(h('span', { 'data-help': 'factor.step' }, `${factor}× as fast`), h('i', { 'aria-hidden': 'true' }), h('span', { 'data-help': 'factor.step' }, `${factor}× as slow`), h('span', { class: 'quiet' }, '▨ refused'))
    tell(at)
  }

  model.on('view', draw)
  draw()
}
