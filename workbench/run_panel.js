/** Run and Cancel, progress, and the last result with its badge. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const run = h('button', { class: 'button primary', 'data-action': 'run', on: { click: () => model.send_msg({ kind: 'run' }) } }, '▶ Run')
  const search = h('button', { class: 'button', 'data-action': 'search', title: 'Search cuts, orders and look-ups for about ten seconds, simulate the best schedule found, and show it', on: { click: () => model.send_msg({ kind: 'search' }) } }, 'Find a better schedule')
  const anyway = h('button', { class: 'button primary', 'data-action': 'anyway', on: { click: () => model.send_msg({ kind: 'run', sure: true }) } }, '▶ Run anyway')
  const leave = h('button', { class: 'button', 'data-action': 'leave', on: { click: () => model.send_msg({ kind: 'leave' }) } }, 'Not now')
  const cancel = h('button', { class: 'button', 'data-action': 'cancel', on: { click: () => model.send_msg({ kind: 'cancel' }) } }, 'Cancel')
  const bar = h('progress', { max: 1, 'aria-label': 'Simulation progress' })
  const said = h('span', { class: 'said' })
  const out = h('div', { class: 'out', role: 'status', 'aria-live': 'polite' })
  el.append(h('div', { class: 'panel' }, h('div', { class: 'keys' }, run, anyway, search, cancel, leave),
    h('div', { class: 'text' }, h('div', { class: 'row' }, bar, said), out)))

  function draw() {
    if (!there(model)) return
    const v = model.view
    const mine = el.getRootNode().activeElement
    run.disabled = v.running
    run.textContent = v.done ? '▶ Run again' : '▶ Run'
    cancel.hidden = bar.hidden = !v.running
    run.hidden = !!v.asking && !v.running
    search.hidden = v.running || run.hidden
    anyway.hidden = leave.hidden = !run.hidden
    if (v.share > 0) bar.value = v.share
    else bar.removeAttribute('value')
    said.className = v.failed ? 'said failed' : run.hidden ? 'said asking' : 'said'
    said.textContent = (run.hidden && v.asking) || v.status || (v.cancelled ? 'cancelled' : v.done ? '' : `estimated ${v.estimate}; Run simulates it`)
    said.parentElement.hidden = !v.running && !said.textContent
    const r = v.result
    out.replaceChildren()
    out.className = r.stale ? 'out stale' : 'out'
    if (r.cycles) out.append(...[
      h('span', { class: 'cycles' }, r.cycles), h('span', { class: 'quiet' }, ` simulated (${r.name}) on machine ${r.machine}, ${r.estimate} estimated (${r.off}) `),
      r.standin && h('span', { class: 'badge standin' }, '⚠ ' + r.standin), ' ',
      r.stale ? h('span', { class: 'badge old', title: 'The configuration has changed since; press Run to simulate it' }, 'stale: another configuration')
        : h('span', { class: r.ok === null ? 'badge old' : r.ok ? 'badge good' : 'badge wrong' }, (r.ok === null ? '' : r.ok ? '✓ ' : '✕ ') + r.badge),
      h('div', { class: 'quiet' }, [r.speedup && `${r.speedup} the speed of unfused`, r.work, r.note, r.kept ? 'from the run store; Run shows where its cycles went' : `simulated in ${r.took}`].filter(Boolean).join(' · '))].filter(Boolean))
    if ((mine === run && run.disabled) || (mine === search && search.hidden)) cancel.focus()
    if ((mine === cancel && cancel.hidden) || ((mine === anyway || mine === leave) && anyway.hidden)) (v.running ? cancel : run).focus()
    if (mine === run && run.hidden) anyway.focus()
  }

  model.on('view', draw)
  draw()
}
