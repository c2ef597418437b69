/** Two designs side by side: what to compare with, figures, regions over kernels, schedules line by line. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const choice = h('select', { 'aria-label': 'Design to compare with', on: { change: () => { declined = !choice.value; model.send_msg({ kind: 'compare', with: choice.value }) } } })
  const load = h('button', { class: 'button', 'data-action': 'load', title: 'Show the left design in the place of the right one; Undo goes back', on: { click: () => model.send_msg({ kind: 'load' }) } }, 'Load left')
  const segments = h('div', { class: 'segments', role: 'group', 'aria-label': 'What is shown of both' })
  const note = h('p', { class: 'note', role: 'status' })
  const sides = h('div', { class: 'sides' })
  const figures = h('div', {})
  const schedules = h('div', {})
  const both = h('div', { class: 'both' }, figures, schedules)
  el.append(h('div', { class: 'line' }, h('label', {}, 'Compare ', choice, ' (left) with the design shown (right)'), load, segments), note, sides, both)
  let seen = false      // whether any of it is in sight
  let declined = false  // whether nothing was chosen

  // who opens this without a choice gets the usual one; a tab is in sight for a moment while the page is made
  const usual = () => { if (seen && !declined && there(model) && !model.view.choice) model.send_msg({ kind: 'compare', with: 'usual' }) }
  new IntersectionObserver(entries => {
    seen = entries.at(-1).isIntersecting
    if (seen) setTimeout(usual, 150)
  }).observe(el)

  /** The regions of a design over its kernels, each as wide as it has kernels. */
  function side(s, name) {
    const counts = s.regions.map((_, k) => s.kernels.filter(([, region]) => region === k))
    return h('div', { class: 'side', 'data-side': name },
      h('h3', {}, h('span', { class: 'tag' }, name), name === 'left' ? model.view.name : 'the design shown', h('small', {}, [s.name && name === 'right' ? s.name : '', s.machine, 'estimated cycles of its regions'].filter(Boolean).join(' · '))),
      h('div', { class: 'chain', role: 'group', 'aria-label': `Regions, ${name}` }, s.regions.map((r, k) => h('button', {
        class: 'region', 'aria-pressed': String(k === s.shown), 'data-region': k, title: `${r.name}: ${counts[k].map(([kernel]) => kernel).join(', ')}; order ${r.order}; estimated ${r.cycles} cycles`,
        style: `--c: var(--r${k % 8 + 1}); --f: var(--r${k % 8 + 1}-f); flex: ${Math.max(1, counts[k].length)} 1 0`,
        on: { click: () => model.send_msg({ kind: 'region', side: name, number: k }) },
      }, r.name, h('small', { 'data-help': 'cycles.estimated' }, r.cycles)))))
  }

  function figure(f) {
    return h('tr', { class: f.part ? 'part' : null, 'data-figure': f.name }, h('th', { scope: 'row' }, f.name),
      h('td', { 'data-help': f.help }, f.left), h('td', { 'data-help': f.help }, f.right), h('td', { class: f.verdict || null, 'data-help': f.help }, f.change))
  }

  function draw() {
    if (!there(model)) return
    const v = model.view
    choice.replaceChildren(h('option', { value: '' }, 'nothing'), ...v.choices.map(([key, name]) => h('option', { value: key }, name)))
    if (v.choice && !v.choices.some(([key]) => key === v.choice)) choice.append(h('option', { value: v.choice }, v.name))
    choice.value = v.choice
    const is = v.sides.length > 0
    load.hidden = sides.hidden = !is
    segments.hidden = !is
    note.textContent = is ? [v.same ? 'Both designs are the same.' : '', model.chosen === 'Timelines' && !v.sides[0].run ? 'The left design has not been run: press Load left, then Run; Undo brings this one back.' : ''].filter(Boolean).join(' ')
      : v.choice ? `${v.name} is not of the program and data shown, or cannot be built. Choose another design to compare with.`
        : 'Choose what to compare the design with: run A, the step before, a preset, or a run of this page.'
    note.hidden = !note.textContent
    segments.replaceChildren(...model.views.map(name => h('button', { 'aria-pressed': String(name === model.chosen), 'data-view': name, on: { click: () => model.send_msg({ kind: 'show', view: name }) } }, name)))
    both.hidden = !is || model.chosen !== 'Schedules'
    if (!is) return
    const held = el.getRootNode().activeElement?.dataset?.region ? el.getRootNode().activeElement : null
    const focus = held && `[data-side=${held.closest('.side').dataset.side}] [data-region="${held.dataset.region}"]`
    sides.replaceChildren(side(v.sides[0], 'left'), side(v.sides[1], 'right'))
    if (focus) sides.querySelector(focus)?.focus()
    figures.replaceChildren(h('table', { 'aria-label': 'Figures of both designs' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }), ...['left', 'right', 'change'].map(name => h('th', { scope: 'col' }, name)))), h('tbody', {}, v.figures.map(figure))))
    schedules.replaceChildren(h('table', { class: 'lines', 'aria-label': 'Both schedules, line by line' }, h('tbody', {}, v.schedule.map(([left, right, state]) =>
      h('tr', { class: state }, ...[left, right].map((text, k) => h('td', {}, text && h('span', { class: 'sign', 'aria-hidden': 'true' }, state === 'same' ? '  ' : k ? '+ ' : '− '), text)))))))
  }

  model.on('view', draw)
  model.on('chosen', () => { draw(); segments.querySelector('[aria-pressed=true]')?.focus() })
  draw()
}
