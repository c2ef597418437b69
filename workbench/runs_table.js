/** Runs so far; the name of a run goes back to it. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const frame = h('div', { class: 'frame' })
  el.append(frame)

  function draw() {
    if (!there(model)) return
    const { runs } = model.view
    if (!runs.length) {
      frame.replaceChildren(h('p', { class: 'quiet' }, 'No run yet. Press Run; each configuration you simulate is kept here and in the plot.'))
      return
    }
    const heads = ['configuration', 'model · data', 'machine', 'estimated (cycles)', 'simulated (cycles)', 'speed-up vs unfused', 'FLOPs', 'bytes moved', 'check']
    frame.replaceChildren(h('table', {}, h('thead', {}, h('tr', {}, heads.map((text, k) => h('th', { scope: 'col', class: k > 2 && k < 8 ? 'figure' : null }, text)))),
      h('tbody', {}, runs.map(r => h('tr', { class: r.current ? 'current' : null, 'data-run': r.number },
        h('th', { scope: 'row' }, h('span', { style: `color:${r.colour}`, 'aria-hidden': 'true' }, r.sign + ' '),
          h('button', { class: 'link', title: `${r.schedule}\nGo back to this configuration`, on: { click: () => model.send_msg({ kind: 'recall', number: r.number }) } }, r.name),
          r.current && h('span', { class: 'quiet' }, ' (shown)')),
        h('td', {}, r.model, r.standin && h('span', { class: 'badge standin', title: r.standin }, '⚠ stand-in: NOT the real graph')), h('td', {}, r.machine), [r.estimated, r.cycles, r.speedup, r.flops, r.bytes].map(text => h('td', { class: 'figure' }, text)),
        h('td', {}, h('span', { class: r.ok ? 'badge good' : 'badge wrong', title: r.check }, r.ok ? '✓ matches' : '✕ MISMATCH')))))),
    runs.every(r => r.speedup === '—') ? h('p', { class: 'quiet' }, 'Run the preset unfused to see speed-ups.') : '')
  }

  model.on('view', draw)
  draw()
}
