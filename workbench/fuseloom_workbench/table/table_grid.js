/** The fusion table: sticky headers, movable rows, references that show their target. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const heading = h('div', { class: 'heading' })
  const frame = h('div', { class: 'frame' })
  const stepper = h('div', { class: 'stepper' })
  const notes = h('div', { class: 'notes mono' })
  const legend = h('div', { class: 'legend', 'aria-label': 'Kinds of cells' })
  const status = statusLine(true, text => model.send_msg({ kind: 'way', text }))
  const sheet = h('div', { class: 'sheet' }, heading, frame, status, stepper, notes, legend)
  el.append(sheet)
  lights(frame)
  let step = null  // null: the finished table
  let row = null   // the row whose handle is focused after the next drawing
  let at = [0, 0]  // the cell that Tab reaches
  let closed = new Set()  // kernels whose columns are folded
  let kernelsOf = ''      // the region that `closed` is of
  const MOST = 14         // columns that are open by themselves
  const explain = h('dialog', { 'aria-label': 'What the cells mean' })
  el.append(explain)

  const menu = cellMenu(model, el, key => cellOf(key))

  const cellOf = key => frame.querySelector(`[data-cell="${CSS.escape(key)}"]`)

  function cells() {
    const { steps } = model.view
    const found = new Map()
    steps.slice(0, step ?? steps.length).forEach((s, k) => {
      for (const [column, name, kind, text, target] of s.changes)
        found.set(`${column}.${name}`, { kind, text, target, fresh: step !== null && k === step - 1 })
    })
    return found
  }

  function draw() {
    if (!there(model)) return
    const { columns, rows, kinds, region, name, colour, accumulators } = model.view
    const groups = grouped(columns, name)
    const [left, top] = [frame.scrollLeft, frame.scrollTop]
    const found = cells()
    const focused = held() ?? (row !== null && unfocused() ? handleOf(row) : null)  // who went on meanwhile stays there
    heading.replaceChildren(
      h('h2', {}, 'Fusion table'), h('span', { class: 'number', style: `background:var(--${colour})`, title: `Region ${region}` }, region), h('b', {}, name),
      h('span', { class: 'quiet' }, `order ${rows.filter(r => !r.value).map(r => r.name).join(' → ')} (outermost first)`),
      h('button', { class: 'button plain', on: { click: legendOpen } }, 'Legend'))
    const kernels = h('tr', { class: 'kernels' }, h('th', { class: 'corner', 'aria-hidden': 'true' }), groups.map(g => h('th', { 'data-statement': [...new Set(g.columns.map(([c]) => c.statement))].join(' '), colspan: g.open ? g.columns.length : 1, scope: 'colgroup', title: g.open ? `Fold the columns of ${g.kernel}` : `Open the ${g.columns.length} columns of ${g.kernel}` },
      h('button', { class: 'group', 'aria-expanded': String(g.open), 'data-group': g.key, 'aria-label': `${g.open ? 'Fold' : 'Open'} ${g.kernel}`, on: { click: () => fold(g.key) } }, g.open ? g.kernel : '▸'))))
    const head = h('tr', {}, h('th', { class: 'corner', scope: 'col' }, 'index'), groups.flatMap(g => !g.open ? [h('th', { class: 'folded', title: g.kernel })] : g.columns.map(([c]) =>
      h('th', { scope: 'col', title: c.hint, class: c.leaf ? 'leaf' : 'computed', 'data-statement': c.statement }, c.title))))
    const body = h('tbody', {}, rows.map((r, k) => h('tr', { 'data-row': r.name, class: r.value ? 'value' : null },
      h('th', { class: 'rowhead', scope: 'row' }, r.movable ? handle(r.name, k, rows) : h('span', { class: 'fixed' }, r.value ? 'value' : r.name)),
      groups.flatMap(g => g.open ? g.columns.map(([c, n]) => cell(c, r, k, n, found.get(`${c.name}.${r.name}`), kinds)) : [ticks(g, r, found, kinds)]))))
    frame.replaceChildren(h('table', { role: 'grid', 'aria-label': `Fusion table of region ${name}` }, h('thead', {}, kernels, head), body))
    frame.scrollTo(left, top)
    sheet.classList.toggle('replaying', step !== null)
    notes.replaceChildren(...(step === null ? accumulators.map(text => h('div', {}, text)) : [changed(step)]))
    legend.replaceChildren(...Object.values(kinds).filter(k => k.sign).map(k => h('span', { title: k.says }, chip(k), ` ${k.text}`)))
    drawStepper()
    select()
    mark()
    if (focused) frame.querySelector(focused)?.focus()
    row = null
  }

  /** What a step changes: cells before and after, side by side. */
  function changed(k) {
    const { steps, columns } = model.view
    const titles = Object.fromEntries(columns.map(c => [c.name, c.title]))
    const before = new Map(steps.slice(0, Math.max(k - 1, 0)).flatMap(s => s.changes.map(([column, name, , text]) => [`${column}.${name}`, text])))
    const rows = k ? steps[k - 1].changes : []
    if (!rows.length) return h('p', { class: 'quiet' }, 'This step changes no cell.')
    return h('table', { class: 'changed', 'aria-label': 'Cells before and after this step' },
      h('thead', {}, h('tr', {}, ['cell', 'before', 'after'].map(x => h('th', { scope: 'col' }, x)))),
      h('tbody', {}, rows.map(([column, name, , text]) => h('tr', {}, h('th', { scope: 'row' }, `${titles[column] ?? column}, ${name}`), h('td', {}, before.get(`${column}.${name}`) ?? '·'), h('td', {}, text)))))
  }

  /** Columns by kernel, in order, those of a long kernel by statement; a wide table begins folded. */
  function grouped(columns, name) {
    const many = {}
    for (const c of columns) many[c.kernel] = (many[c.kernel] ?? 0) + 1
    const groups = []
    columns.forEach((column, n) => {
      const label = many[column.kernel] > MOST / 2 ? column.statement : column.kernel
      const last = groups[groups.length - 1]
      if (last && last.kernel === label) last.columns.push([column, n])
      else groups.push({ kernel: label, columns: [[column, n]], key: String(groups.length) })
    })
    const of = name + groups.map(g => g.kernel).join()
    if (kernelsOf !== of) {
      kernelsOf = of
      closed = new Set()
      let open = 0
      for (const g of groups) {
        open += g.columns.length
        if (columns.length > MOST && open > MOST / 2 && g !== groups[0]) closed.add(g.key)
      }
    }
    return groups.map(g => ({ ...g, open: !closed.has(g.key) }))
  }

  function fold(key) {
    if (!closed.delete(key)) closed.add(key)
    draw()
    frame.querySelector(`[data-group="${key}"]`)?.focus()
  }

  /** A folded kernel's cells of a row, a mark each. */
  function ticks(g, r, found, kinds) {
    const marks = g.columns.map(([c]) => found.get(`${c.name}.${r.name}`)).filter(c => c && kinds[c.kind].family)
    return h('td', { class: 'folded', title: marks.map(c => `${kinds[c.kind].text}: ${c.text}`).join('\n') || g.kernel, on: { click: () => fold(g.key) } },
      marks.map(c => h('i', { style: `background:var(--${kinds[c.kind].family})` })))
  }

  function legendOpen() {
    explain.replaceChildren(h('h2', {}, 'What the cells mean'),
      h('p', {}, 'A row per index, outermost first; a column per use of a tensor. A cell says what happens at that index, and becomes a primitive of the machine. Of an index that the tensor lacks, it says pass; a dot stands where the construction has not come yet.'),
      h('dl', {}, Object.values(model.view.kinds).flatMap(k => [h('dt', {}, k.sign && chip(k), ` ${k.text}`), h('dd', {}, k.says)])),
      h('button', { class: 'button', on: { click: () => explain.close() } }, 'Close'))
    explain.showModal()
  }

  const chip = k => h('span', { class: 'chip', style: `--c:var(--${k.family});--f:var(--${k.family}-f)`, 'aria-hidden': 'true' }, k.sign)

  const handleOf = name => `tr[data-row="${CSS.escape(name)}"] .handle`

  /** What has the focus, as a selector that finds it again after the table was drawn anew. */
  function held() {
    const active = frame.getRootNode().activeElement
    if (!active || !frame.contains(active)) return null
    if (active.matches('.handle')) return handleOf(active.closest('tr').dataset.row)
    return active.dataset.cell ? `[data-cell="${CSS.escape(active.dataset.cell)}"]` : null
  }

  function cell(column, r, k, n, content, kinds) {
    const key = `${column.name}.${r.name}`
    const what = content ? `${kinds[content.kind].text}: ${content.text}` : 'not filled yet'
    const td = h('td', {
      role: 'gridcell', 'data-cell': key, 'data-statement': column.statement, 'data-at': `${k},${n}`, tabindex: k === at[0] && n === at[1] ? 0 : -1,
      class: (content ? `k-${content.kind}` + (kinds[content.kind].family ? ' made' : '') : 'empty') + (content?.fresh ? ' fresh' : '') + (content?.target ? ' ref' : ''),
      style: content && kinds[content.kind].family ? `--c:var(--${kinds[content.kind].family});--f:var(--${kinds[content.kind].family}-f)` : null,
      'aria-label': `${column.title}, row ${r.name}: ${what}`,
      title: what + (content?.target ? `\nrefers to ${content.target}` : '') + (content ? '\nRight click, or M: what can be chosen here' : ''),
    }, content && kinds[content.kind].sign ? h('i', { 'aria-hidden': 'true' }, kinds[content.kind].sign) : '', content ? content.text : '·')
    const show = on => content?.target && cellOf(content.target)?.classList.toggle('target', on)
    td.addEventListener('mouseenter', () => show(true))
    td.addEventListener('mouseleave', () => show(false))
    td.addEventListener('focus', () => show(true))
    td.addEventListener('blur', () => show(false))
    td.addEventListener('click', () => { reach(k, n); model.send_msg({ kind: 'select', column: column.name, row: r.name }) })
    const choose = () => { if (content && step === null) menu.open(column.name, r.name) }
    td.addEventListener('contextmenu', event => { event.preventDefault(); reach(k, n); choose() })
    td.addEventListener('keydown', event => {
      if (event.ctrlKey || event.metaKey) return
      if (event.key === 'Enter' || event.key === ' ') td.click()
      else if (event.key === 'm' || event.key === 'M' || event.key === 'ContextMenu') choose()
      else {
        const d = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key]
        if (!d || event.altKey) return
        reach(k + d[0], n + d[1])
      }
      event.preventDefault()
    })
    return td
  }

  function reach(k, n) {
    const next = frame.querySelector(`[data-at="${k},${n}"]`)
    if (!next) return
    frame.querySelector('td[tabindex="0"]')?.setAttribute('tabindex', '-1')
    next.setAttribute('tabindex', '0')
    next.focus()
    at = [k, n]
  }

  /** Where a row may go, as far as the partial order graph tells; Python has the last word. */
  function allowed(name, rows) {
    const order = rows.map(r => r.name)
    let [low, high] = [0, order.length - 2]  // the value row stays last
    for (const [outer, inner] of model.view.edges) {
      if (inner === name) low = Math.max(low, order.indexOf(outer) + 1)
      if (outer === name && order.includes(inner)) high = Math.min(high, order.indexOf(inner) - 1)
    }
    return [low, high]
  }

  function handle(name, k, rows) {
    const button = h('button', {
      class: 'handle', title: 'Drag to reorder · Alt+↑/↓ moves the row',
      'aria-label': `Index ${name}, place ${k + 1} of ${rows.length - 1}. Alt with arrow up or down moves it.`,
      on: {
        keydown: event => {
          const d = { ArrowUp: -1, ArrowDown: 1 }[event.key]
          if (!d || !event.altKey) return
          event.preventDefault()
          move(name, k + d)
        },
      },
    }, h('span', { 'aria-hidden': 'true' }, '⠿ '), name)
    let lines = []
    let middles = []  // of the rows as they lie: one that is lifted counts its place from elsewhere
    let target = k
    draggable(button, {
      start: () => {
        lines = [...frame.querySelectorAll('tbody tr:not(.value)')]
        middles = lines.map(line => { const r = line.getBoundingClientRect(); return (r.top + r.bottom) / 2 })
        const [low, high] = allowed(name, rows)
        lines.forEach((line, n) => line.classList.toggle('forbidden', n < low || n > high))
        lines[k].classList.add('lifted')
      },
      move: (event, _, dy) => {
        lines[k].style.transform = `translateY(${dy}px)`
        target = middles.indexOf(nearest(middles, middles[k] + dy, place => place))
        lines.forEach((line, n) => line.classList.toggle('drop', n === target && n !== k))
      },
      end: dropped => {
        lines[k].style.transform = ''
        lines.forEach(line => line.classList.remove('forbidden', 'drop', 'lifted'))
        if (dropped && target !== k) move(name, target)
      },
    })
    return button
  }

  function move(name, to) {
    row = name
    model.send_msg({ kind: 'move', row: name, to })
  }

  function drawStepper() {
    const { steps } = model.view
    const now = step ?? steps.length
    const go = k => { step = k >= steps.length ? null : Math.max(0, k); draw() }
    const slider = stepper.querySelector('input')
    const title = now ? steps[now - 1].title : 'an empty table'
    const text = `step ${now} of ${steps.length}: ${title}`
    if (slider) {  // kept while it is dragged
      slider.max = steps.length
      slider.value = now
      slider.setAttribute('aria-valuetext', text)
      stepper.querySelector('.where').textContent = text
      return
    }
    stepper.append(
      h('span', { class: 'quiet' }, 'Construction'),
      h('button', { class: 'button', 'aria-label': 'Previous step', on: { click: () => go((step ?? model.view.steps.length) - 1) } }, '◀'),
      h('input', { type: 'range', min: 0, max: steps.length, value: now, 'aria-label': 'Construction step', 'aria-valuetext': text, on: { input: event => go(+event.target.value) } }),
      h('button', { class: 'button', 'aria-label': 'Next step', on: { click: () => go((step ?? model.view.steps.length) + 1) } }, '▶'),
      h('span', { class: 'where' }, text))
    stepper.querySelector('input').value = now
  }

  function select() {
    frame.querySelector('.selected')?.classList.remove('selected')
    if (model.selected.length) cellOf(model.selected.join('.'))?.classList.add('selected')
  }

  const mark = () => { for (const head of frame.querySelectorAll('th[data-statement]')) head.classList.toggle('mine', head.dataset.statement.split(' ').some(name => model.kernel.includes(name))) }

  /** Bring the columns of a selected kernel into sight. */
  function gather(names = model.kernel) {
    mark()
    const mine = model.view.columns?.find(c => names.includes(c.statement))
    if (!mine) return
    const group = grouped(model.view.columns, model.view.name).find(g => g.columns.some(([c]) => c === mine))
    if (!group.open) { closed.delete(group.key); draw() }
    const within = [...frame.querySelectorAll('.kernels th[data-statement]')].find(th => th.dataset.statement.split(' ').includes(mine.statement))
    if (within) frame.scrollLeft = within.offsetLeft - (frame.querySelector('.corner')?.offsetWidth ?? 0)
  }

  model.on('kernel', () => gather())
  let shown = ''  // the region that is in sight
  function first() {
    if (!there(model) || shown === model.view.name) return
    shown = model.view.name
    if (!model.kernel.length && !model.selected.length) gather([model.view.busiest])
  }

  model.on('view', () => { step = null; draw(); first() })
  model.on('selected', select)
  model.on('menu', menu.show)
  model.on('status', () => {
    status.show(model.status)
    if (model.status.ok === false && row !== null) row = null
  })
  draw()
  requestAnimationFrame(first)  // once it has a size
}
