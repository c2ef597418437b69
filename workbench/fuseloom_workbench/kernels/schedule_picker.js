/** Every schedule of a kernel's root: whether it fits, and why not; its blocks, its buffers, its time; one can be used. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const count = n => n.toLocaleString('en')
  const measure = h('button', { class: 'button', type: 'button', title: 'Each operation of the kernel under each of its schedules, on this server; times are kept for the next kernel', on: { click: () => model.send_msg({ kind: 'time' }) } }, 'Time operations')
  const back = h('button', { class: 'button', type: 'button', on: { click: () => model.send_msg({ kind: 'pick', kernel: model.view.kernel, schedule: null }) } }, "Fusion's choice")
  const fitting = h('input', { type: 'checkbox', on: { change: () => draw() } })
  const about = h('p', { class: 'quiet' })
  const wrap = h('div', { class: 'wrap', tabindex: 0, role: 'group', 'aria-label': 'Schedules' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'Schedules of the root'), measure, back, h('label', { class: 'flag' }, fitting, 'only those that fit')), about, wrap)
  let looked = ''

  function draw() {
    const v = model.view
    if (!v.rows) return
    const none = !v.rows.length
    measure.disabled = v.busy || none
    back.disabled = !v.chosen
    about.textContent = none ? `${v.kernel || 'There is no kernel'}${v.reason ? `: ${v.reason}; it has no schedules` : ''}.`
      : `${v.kernel} of ${v.dims.length ? v.dims.map(count).join(' × ') : 'one element'}: a dimension is cut into parts; the indices left of it (row), or right of it (column), are blocks, too. ${count(v.rows.filter(row => row.fits).length)} of ${count(v.rows.length)} fit${v.times ? '; the fastest are first' : ''}.`
    const time_ = row => v.times?.rows[row.schedule]
    const rows = v.rows.filter(row => row.fits || !fitting.checked)
    if (v.times) rows.sort((a, b) => (time_(a)?.measured ?? time_(a)?.predicted ?? Infinity) - (time_(b)?.measured ?? time_(b)?.predicted ?? Infinity))
    else rows.sort((a, b) => b.fits - a.fits)
    const titles = ['', 'schedule', 'blocks', 'shared', 'given up', ...(v.times ? ['predicted', 'measured'] : []), '']
    const had = wrap.getRootNode().activeElement?.dataset?.schedule
    const top = wrap.scrollTop
    wrap.replaceChildren(...(none ? [] : [h('table', { 'aria-label': 'Schedules' }, h('thead', {}, h('tr', {}, titles.map(text => text ? h('th', { scope: 'col' }, text) : h('td', {})))), h('tbody', {}, rows.map(row => line(row, v, time_(row)))))]))
    wrap.scrollTop = top
    if (had) wrap.querySelector(`[data-schedule="${had}"]`)?.focus()
    const now_ = `${v.kernel} ${!!v.times} ${v.chosen}`
    if (looked !== now_) {
      looked = now_
      const now = wrap.querySelector('tr.now')
      wrap.scrollTop = now ? Math.max(0, now.offsetTop - 80) : 0
    }
  }

  function line(row, v, time_) {
    const kind = [row.current ? 'now' : '', row.fits ? '' : 'not', v.times?.best === row.schedule ? 'best' : ''].filter(Boolean).join(' ')
    const why = row.fits ? '' : row.operation ? [h('code', {}, row.operation), `: ${row.rule}`, ...(row.reader ? [' (', h('code', {}, row.reader), row.dims.length ? `, dimension${row.dims.length > 1 ? 's' : ''} ${row.dims.join(', ')}` : '', ')'] : [])] : row.rule
    return h('tr', { class: kind || null, 'data-of': row.schedule },
      h('td', {}, row.current ? h('b', { title: 'This schedule is used' }, 'in use') : h('button', { type: 'button', class: 'button use', 'data-schedule': row.schedule, disabled: !row.fits || v.busy, 'aria-label': `Use ${row.schedule}`, on: { click: () => model.send_msg({ kind: 'pick', kernel: v.kernel, schedule: row.schedule }) } }, 'Use')),
      h('th', { scope: 'row' }, row.schedule, row.alike.length ? h('small', { title: `These divide it alike: ${row.alike.join(', ')}` }, `= ${row.alike[0]}${row.alike.length > 1 ? ' …' : ''}`) : null),
      h('td', {}, count(row.blocks)), ...(row.fits ? [h('td', {}, bytes(row.bytes)), h('td', {}, row.recomputed ? `${count(row.recomputed)} buffer${row.recomputed > 1 ? 's' : ''}` : '—'),
        ...(v.times ? [h('td', { class: 'time' }, time_ ? time(time_.predicted) : '—'), h('td', { class: 'time' }, time_?.measured ? time(time_.measured) : '—')] : []), h('td', { class: 'rest' })] : [h('td', { class: 'why', colspan: v.times ? 5 : 3 }, why)]))
  }

  draw()
  model.on('view', draw)
}
