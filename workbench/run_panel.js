/** Run and Cancel, progress, and the last result with its badge. */
export function render({ model, el }) {
  const run = h('button', { class: 'button primary', 'data-action': 'run', on: { click: () => model.send_msg({ kind: 'run' }) } }, '▶ Run')
  const cancel = h('button', { class: 'button', 'data-action': 'cancel', on: { click: () => model.send_msg({ kind: 'cancel' }) } }, 'Cancel')
  const bar = h('progress', { max: 1, 'aria-label': 'Simulation progress' })
  const said = h('span', { class: 'said' })
  const out = h('div', { class: 'out', role: 'status', 'aria-live': 'polite' })
  el.append(h('div', { class: 'panel' }, h('div', { class: 'keys' }, run, cancel),
    h('div', { class: 'text' }, h('div', { class: 'row' }, bar, said), out)))

  function draw() {
    const v = model.view
    const mine = el.getRootNode().activeElement
    run.disabled = v.running
    run.textContent = v.done ? '▶ Run again' : '▶ Run'
    cancel.hidden = bar.hidden = !v.running
    if (v.share > 0) bar.value = v.share
    else bar.removeAttribute('value')
    said.className = v.failed ? 'said failed' : 'said'
    said.textContent = v.status || (v.cancelled ? 'cancelled' : v.done ? '' : `estimated ${v.estimate}; Run simulates it`)
    said.parentElement.hidden = !v.running && !said.textContent
    const r = v.result
    out.replaceChildren()
    out.className = r.stale ? 'out stale' : 'out'
    if (r.cycles) out.append(
      h('span', { class: 'cycles' }, r.cycles), h('span', { class: 'quiet' }, ` simulated (${r.name}), ${r.estimate} estimated (${r.off}) `),
      r.stale ? h('span', { class: 'badge old', title: 'The configuration has changed since; press Run to simulate it' }, 'stale: another configuration')
        : h('span', { class: r.ok ? 'badge good' : 'badge wrong' }, (r.ok ? '✓ ' : '✕ ') + r.badge),
      h('div', { class: 'quiet' }, [r.speedup && `${r.speedup} the speed of unfused`, r.work, `simulated in ${r.took}`].filter(Boolean).join(' · ')))
    if (mine === run && run.disabled) cancel.focus()
    if (mine === cancel && cancel.hidden) run.focus()
  }

  model.on('view', draw)
  draw()
}
