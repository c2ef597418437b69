/** Model, data, machine, presets and runs; the browser asks, Python answers with a new view. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const say = (name, detail) => el.dispatchEvent(new CustomEvent(`fuseloom:${name}`, { bubbles: true, composed: true, detail }))
  const chooser = (label, kind) => h('select', { 'aria-label': label, on: { change: event => model.send_msg({ kind, name: event.target.value }) } })
  const models = chooser('Model', 'model'), datas = chooser('Data', 'data'), machines = chooser('Machine', 'machine')
  const about = h('p', { class: 'note', 'data-help': 'input.size' }), standin = h('p', { class: 'standin', role: 'note' })
  const memory = h('p', { class: 'note', 'data-help': 'machine.parameter' })
  const presets = h('div', { class: 'list', role: 'group', 'aria-label': 'Presets' })
  const runs = h('div', { class: 'list', role: 'group', 'aria-label': 'Runs' })
  const stored = h('span', { 'data-help': 'count.runs' })
  const edit = what => h('button', { class: 'edit', title: `${what}: edit it below`, on: { click: () => say('tab', 'Input') } }, 'Edit…')
  const field = (name, control) => h('label', { class: 'field' }, h('span', {}, name), control)
  el.append(
    h('section', {}, h('h3', {}, 'Input', edit('Program, sizes and densities')), field('Model', models), field('Data', datas), standin, about),
    h('section', {}, h('h3', {}, 'Machine', edit('Machine')), field('Name', machines), memory),
    h('section', {}, h('h3', {}, 'Presets', h('span', { 'data-help': 'cycles.estimated' }, 'cycles')), presets),
    h('section', {}, h('h3', {}, 'Runs', stored), runs))

  function options(select, names, chosen) {
    const same = select.options.length === names.length && names.every((name, k) => select.options[k].value === name)
    if (!same) select.replaceChildren(...names.map(name => h('option', { value: name }, name)))
    if (select.value !== chosen) select.value = chosen
  }

  function preset(p, most) {
    const share = p.number ? Math.max(.02, p.number / most) : 0
    return h('button', { class: 'entry' + (p.chosen ? ' on' : ''), 'aria-pressed': String(p.chosen), 'data-preset': p.name, title: p.hint, on: { click: () => model.send_msg({ kind: 'preset', name: p.name }) } },
      h('span', { class: 'name' }, p.name), h('span', { class: 'figure' + (p.estimated ? ' est' : ''), 'data-help': p.estimated ? 'cycles.estimated' : 'cycles.simulated' }, p.cycles),
      h('span', { class: 'meter', 'aria-hidden': 'true' }, h('i', { style: `width:${(100 * share).toFixed(1)}%` })))
  }

  function run(r) {
    const tag = r.pinned ? h('b', { class: 'tag a', title: 'Pinned: others are compared with it' }, 'A') : r.shown ? h('b', { class: 'tag b', title: 'Shown' }, 'B') : null
    return h('div', { class: 'run' + (r.shown ? ' on' : ''), 'data-run': r.number },
      h('button', {
        class: 'entry', title: r.hint, on: {
          click: () => model.send_msg({ kind: 'load', number: r.number }),
          keydown: event => {
            const kind = { p: 'pin', P: 'pin', Delete: 'forget' }[event.key]
            if (!kind) return
            model.send_msg({ kind, number: r.number })
            event.preventDefault()
          },
        },
      }, h('span', { class: 'name' }, r.name, tag), h('span', { class: 'figure' + (r.ok === false ? ' wrong' : ''), 'data-help': 'cycles.simulated' }, (r.ok === false ? '✕ ' : '') + r.cycles)),
      h('button', { class: 'small pin', 'aria-label': r.pinned ? `Unpin ${r.name}` : `Pin ${r.name} as A`, 'aria-pressed': String(r.pinned), title: r.pinned ? 'No longer compare with it' : 'Pin as A: others are compared with it', on: { click: () => model.send_msg({ kind: 'pin', number: r.number }) } }, 'A'),
      h('button', { class: 'small', 'aria-label': `Forget run ${r.name}`, title: 'Forget this run', on: { click: () => model.send_msg({ kind: 'forget', number: r.number }) } }, '×'))
  }

  function draw() {
    if (!there(model)) return
    const v = model.view
    const held = el.getRootNode().activeElement
    const focus = held?.dataset?.preset ? `[data-preset="${CSS.escape(held.dataset.preset)}"]` : held?.closest?.('[data-run]') ? `[data-run="${held.closest('[data-run]').dataset.run}"] .entry` : null
    options(models, v.models, v.model)
    options(datas, v.datas, v.data)
    options(machines, v.machines, v.machine)
    about.textContent = v.about
    standin.textContent = v.standin
    standin.hidden = !v.standin
    memory.textContent = v.memory
    const most = Math.max(1, ...v.presets.map(p => p.number || 0))
    presets.replaceChildren(...(v.presets.length ? v.presets.map(p => preset(p, most)) : [h('p', { class: 'note' }, v.lacking)]))
    runs.replaceChildren(...(v.runs.length ? v.runs.map(run) : [h('p', { class: 'note' }, 'Press Run: each design that you simulate is kept here. A pins one to compare with.')]))
    stored.textContent = v.runs.length ? `${v.runs.length} kept` : ''
    if (focus) el.getRootNode().querySelector(focus)?.focus()
  }

  model.on('view', draw)
  model.on('status', draw)  // what was refused is not what is chosen
  draw()
}
