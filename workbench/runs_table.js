/** Runs so far, and those that others have kept; the name of a run goes to it. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const frame = h('div', { class: 'frame' })
  el.append(frame)
  const heads = ['configuration', 'model · data', 'machine', 'estimated (cycles)', 'simulated (cycles)', 'speed-up vs unfused', 'FLOPs', 'bytes moved', 'check']

  function name(r, title, request) {
    return h('th', { scope: 'row' }, h('span', { style: `color:${r.colour}`, 'aria-hidden': 'true' }, r.sign + ' '),
      h('button', { class: 'link', title: `${r.schedule}\n${title}`, on: { click: () => model.send_msg(request) } }, r.name),
      r.current && h('span', { class: 'quiet' }, ' (shown)'))
  }

  function figures(r) {
    return [r.estimated, r.cycles, r.speedup, r.flops, r.bytes].map(text => h('td', { class: 'figure' }, text))
  }

  function check(r) {
    const [kind, text] = r.ok === null ? ['badge old', '? not known'] : r.ok ? ['badge good', '✓ matches'] : ['badge wrong', '✕ MISMATCH']
    return h('td', {}, h('span', { class: kind, title: r.check }, text))
  }

  function own(r) {
    return h('tr', { class: r.current ? 'current' : null, 'data-run': r.number }, name(r, 'Go back to this configuration', { kind: 'recall', number: r.number }),
      h('td', {}, r.model, r.standin && h('span', { class: 'badge standin', title: r.standin }, '⚠ stand-in: NOT the real graph')), h('td', {}, r.machine), figures(r), check(r))
  }

  function kept(r) {
    return h('tr', { class: r.current ? 'current' : null, 'data-kept': r.key }, name(r, 'Take over this schedule; Undo goes back', { kind: 'take', key: r.key }),
      h('td', {}, h('span', { class: 'badge kept', title: 'In the run store' }, 'kept'), ' ', h('span', { class: 'quiet' }, r.when + ' '),
        r.engine && h('span', { class: 'badge old', title: 'Its figures may differ from those of this engine' }, `another engine: ${r.engine}`),
        r.refused && h('span', { class: 'badge old', title: r.refused }, 'not legal here')),
      h('td', {}, r.machine), figures(r), check(r))
  }

  let pressed = false  // a row that is replaced between press and release would lose the click
  frame.addEventListener('pointerdown', () => { pressed = true })
  for (const end of ['pointerup', 'pointercancel']) document.addEventListener(end, () => {
    if (pressed) setTimeout(() => { pressed = false; draw() })
  })

  function draw() {
    if (!there(model) || pressed) return
    const { runs, kept: others, note, trouble } = model.view
    const at = row => row.dataset.kept || row.dataset.run
    const mine = el.getRootNode().activeElement?.closest?.('tr[data-kept], tr[data-run]')
    const focused = mine && frame.contains(mine) && at(mine)
    const parts = []
    if (!runs.length && !others.length) parts.push(h('p', { class: 'quiet' }, 'No run yet. Press Run; each configuration you simulate is kept here and in the plot.'))
    else {
      const title = h('tr', {}, h('th', { scope: 'rowgroup', colspan: heads.length, class: 'title' }, 'Kept runs of the same program, data and machine',
        h('span', { class: 'quiet' }, ` · ${note || 'a click takes a schedule over'}`)))
      parts.push(h('table', {}, h('thead', {}, h('tr', {}, heads.map((text, k) => h('th', { scope: 'col', class: k > 2 && k < 8 ? 'figure' : null }, text)))),
        h('tbody', {}, runs.map(own)), others.length ? h('tbody', { class: 'kept' }, title, others.map(kept)) : ''))
      if ([...runs, ...others].every(r => r.speedup === '—')) parts.push(h('p', { class: 'quiet' }, 'Run the preset unfused to see speed-ups.'))
    }
    if (trouble) parts.push(h('p', { class: 'trouble', role: 'status' }, trouble))
    frame.replaceChildren(...parts)
    if (focused) [...frame.querySelectorAll('tr[data-kept], tr[data-run]')].find(row => at(row) === focused)?.querySelector('button').focus()
  }

  model.on('view', draw)
  draw()
}
