/** Run and Cancel, progress, and the last result with its check and its comparison. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const key = (action, text, kind, request, title) => h('button', { class: `button ${kind}`, 'data-action': action, title, on: { click: () => model.send_msg(request) } }, text)
  const run = key('run', '▶ Run', 'primary', { kind: 'run' }, 'Simulate this design (Ctrl+Enter)')
  const search = key('search', 'Find a better schedule', '', { kind: 'search' }, 'Search cuts, orders and look-ups for about ten seconds, simulate the best schedule found, and show it')
  const anyway = key('anyway', '▶ Run anyway', 'primary', { kind: 'run', sure: true })
  const leave = key('leave', 'Not now', '', { kind: 'leave' })
  const cancel = key('cancel', 'Cancel', 'primary', { kind: 'cancel' }, 'End it (Ctrl+Enter)')
  const bar = h('progress', { max: 1, 'aria-label': 'Simulation progress' })
  const said = h('span', { class: 'said' })
  const out = h('div', { class: 'out', role: 'status', 'aria-live': 'polite' })
  el.append(h('div', { class: 'panel' }, h('div', { class: 'keys' }, run, anyway, cancel, leave, search), out, h('div', { class: 'now' }, bar, said)))

  const estimated = text => h('div', { class: 'first' }, h('span', { class: 'cycles', 'data-help': 'cycles.estimated', title: 'Of the design shown, which has not been run' }, `est. ${text}`))

  /** What is estimated of this design, and small, the run of another one. */
  function before(r, estimate) {
    return [
      estimated(estimate),
      h('div', { class: 'second' }, h('span', { class: r.slower ? 'down' : 'up', 'data-help': 'factor.step' }, r.change),
        h('span', { class: 'older', title: `simulated on machine ${r.machine} in ${r.took}; ${r.work}`, 'data-help': 'cycles.simulated' }, `run of ${r.name}: ${r.cycles}`),
        h('span', { class: 'badge old', title: 'The design has changed since; Run simulates it' }, 'stale: changed since the run'),
        r.standin && h('span', { class: 'badge standin', title: r.standin }, '⚠ stand-in: NOT the real graph')),
    ]
  }

  function result(r) {
    const check = h('span', { class: r.ok === null ? 'badge old' : r.ok ? 'badge good' : 'badge wrong', 'data-help': 'error.result', title: r.verdict }, (r.ok === null ? '' : r.ok ? '✓ ' : '✕ ') + r.badge)
    const compared = r.compared ? h('span', { class: r.slower ? 'down' : 'up', 'data-help': 'speedup.a' }, r.compared) : r.speedup && h('span', { 'data-help': 'speedup.unfused' }, `${r.speedup} the speed of unfused`)
    const trusted = r.ok !== false  // no speed-up of a wrong result
    return [
      h('div', { class: 'first' }, h('span', { class: 'cycles', 'data-help': 'cycles.simulated', title: `${r.name}, simulated on machine ${r.machine} in ${r.took}; ${r.work}` }, r.cycles),
        r.standin && h('span', { class: 'badge standin', title: r.standin }, '⚠ stand-in: NOT the real graph')),
      h('div', { class: 'second' }, trusted && compared, r.machine !== 'default' && h('span', {}, `on machine ${r.machine}`), h('span', { title: 'What the estimate said before the run, and by how much it is off' }, h('span', { 'data-help': 'cycles.estimated' }, `est. ${r.estimate}`), ' (', h('span', { 'data-help': 'error.estimate' }, r.off), ')'), check,
        r.kept && h('span', {}, 'from the run store; Run shows where its cycles went')),
    ]
  }

  function draw() {
    if (!there(model)) return
    const v = model.view
    const mine = el.getRootNode().activeElement
    const asking = !!v.asking && !v.running
    run.textContent = v.done ? '▶ Run again' : '▶ Run'
    run.hidden = asking || v.running
    cancel.hidden = bar.hidden = !v.running
    anyway.hidden = leave.hidden = !asking
    search.hidden = v.running || asking
    if (v.share > 0) bar.value = v.share
    else bar.removeAttribute('value')
    const r = v.result
    said.className = asking ? 'said asking' : v.failed ? 'said failed' : 'said'
    said.textContent = (asking && v.asking) || v.status || (v.cancelled ? 'cancelled' : v.done || r.cycles ? '' : 'Run counts the cycles on real data and checks the result.')
    const about = asking ? 'run.length' : v.running ? 'run.progress' : ''
    if (about) said.dataset.help = about
    else said.removeAttribute('data-help')
    out.className = r.stale ? 'out stale' : 'out'
    out.replaceChildren(...(!r.cycles ? [estimated(v.estimate)] : r.stale ? before(r, v.estimate) : result(r)))
    if ((mine === run && run.hidden && v.running) || (mine === search && search.hidden && v.running)) cancel.focus()
    if ((mine === cancel && cancel.hidden) || ((mine === anyway || mine === leave) && anyway.hidden)) (v.running ? cancel : run).focus()
    if (mine === run && asking) anyway.focus()
  }

  model.on('view', draw)
  draw()
}
