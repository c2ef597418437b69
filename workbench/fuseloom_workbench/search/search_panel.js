/** The Search tab: settings, the anytime curve over its bound, the best found, the funnel, and why not. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const SVG = 'http://www.w3.org/2000/svg'
  const WORDS = { auto: 'Auto', exhaustive: 'Exhaustive', random: 'Random' }
  const GOALS = { cycles: 'cycles', time: 'time', energy: 'energy', edp: 'energy × time', area: 'area' }
  const LIMITS = ['area', 'energy', 'rules']
  const number = x => Math.round(x).toLocaleString('en')
  const unit = v => v.searched.unit || 'cycles'
  /** An objective without its unit: counts in full, others with four digits. */
  const figure = (v, x) => ['cycles', 'LUTs'].includes(unit(v)) ? number(x) : x && x < 1e-3 ? `${+x.toExponential(3).split('e')[0]}e${x.toExponential(3).split('e')[1]}` : String(+x.toPrecision(4))
  const amount = (v, x) => `${figure(v, x)} ${unit(v)}`
  /** Whether the search that is shown looked at more than cycles. */
  const asked = v => v.searched.wishes && (v.searched.wishes.objective !== 'cycles' || v.searched.wishes.area !== null || v.searched.wishes.energy !== null || v.searched.wishes.rules.length > 0)
  let strategy = 'auto', over = 'seconds', drawnAt = ''

  // Settings -------------------------------------------------------------------------------
  const choices = h('div', { class: 'segment', role: 'radiogroup', 'aria-label': 'Strategy' })
  const about = h('p', { class: 'quiet about' })
  const fields = {}
  function field(name, label, unit, title, help) {
    const input = h('input', { name, inputmode: 'decimal', autocomplete: 'off', title, 'aria-label': `${label}, ${unit}`, on: { change: () => draw(), keydown: e => { if (e.key === 'Enter') start() } } })
    const error = h('small', { class: 'wrong', role: 'alert' })
    fields[name] = { input, error, row: h('label', { class: 'field', 'data-help': help }, h('span', {}, label), h('span', { class: 'value' }, input, h('small', {}, unit)), error) }
    return fields[name].row
  }
  const goals = h('select', { name: 'objective', 'aria-label': 'Objective', on: { change: () => draw() } })
  const goalError = h('small', { class: 'wrong', role: 'alert' })
  const goal = h('label', { class: 'field' }, h('span', { 'data-help': 'search.objective' }, 'Objective'), h('span', { class: 'value' }, goals), goalError)
  const rules = h('textarea', { name: 'rules', rows: 2, spellcheck: 'false', 'aria-label': 'Rules that every region keeps, one a line', placeholder: 'fuse T1 H\nkeep T2', on: { keydown: e => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); e.stopPropagation(); start() } } } })
  const rulesError = h('small', { class: 'wrong', role: 'alert' })
  const limits = h('details', { class: 'limits' }, h('summary', {}, 'Budgets and rules'),
    field('area', 'Area at most', 'LUTs', 'Lookup tables that the hardware of a region may take; empty: no limit', 'area'),
    field('energy', 'Energy at most', 'J', 'Joules that a run may take, such as 2e-6; empty: no limit', 'energy'),
    h('label', { class: 'field' }, h('span', { 'data-help': 'search.objective' }, 'Rules that every region keeps'), rules, rulesError))
  // Machines: values of parameters, each a field of its own that comes with its name
  const values = {}
  const rowsOfMachines = h('div', { class: 'parameters' })
  const others = h('select', { 'aria-label': 'Another parameter of the machine', on: { change: () => { const name = others.value; others.value = ''; if (name) { parameter(model.view.parameters.find(p => p.name === name)); draw(); values[name].input.focus() } } } })
  const counted = h('p', { class: 'quiet count', role: 'status', 'aria-live': 'polite' })
  const machinesError = h('small', { class: 'wrong', role: 'alert' })
  const every = h('input', { type: 'checkbox', name: 'every' })
  const machines = h('details', { class: 'limits machines' }, h('summary', {}, 'Machines'),
    h('p', { class: 'quiet' }, 'Values with commas between; empty: as on the machine shown. The search looks for the best machine and schedule together. Lanes, above, may have several values too.'),
    rowsOfMachines, h('label', { class: 'field' }, h('span', {}, 'Another'), others),
    h('label', { class: 'field check', title: 'Goes on until the best schedule of each machine is known, so that the effect of each parameter is exact' }, every, h('span', {}, 'The best schedule of every machine')), counted, machinesError)
  const helpOf = name => ({ channel_capacity: 'machine.capacity', on_chip: 'on_chip' })[name] || 'machine.parameter'
  function parameter(p) {
    if (values[p.name]) return
    const id = `values-${Object.keys(values).length}`
    const input = h('input', { id, name: p.name, autocomplete: 'off', spellcheck: 'false', on: { input: drawCount, change: () => draw(), keydown: e => { if (e.key === 'Enter') start() } } })
    const label = h('span', {}), error = h('small', { class: 'wrong', role: 'alert' })
    values[p.name] = { input, error, label, row: h('label', { class: 'field values', 'data-help': helpOf(p.name) }, label, input, error) }
    rowsOfMachines.append(values[p.name].row)
  }
  const several = text => text.split(',').filter(one => one.trim()).length
  const wanted = () => Object.entries(values).filter(([, { input, row }]) => !row.hidden && several(input.value))
  function drawCount() {
    const lanes = Math.max(1, several(fields.lanes.input.value)), most = model.view.most.machines
    const many = wanted().reduce((product, [, { input }]) => product * several(input.value), lanes)
    const text = many > most ? `${number(many)} machines: at most ${number(most)}` : many > 1 ? `${number(many)} machines` : wanted().length ? 'one machine' : 'the machine shown'
    if (counted.textContent !== text) counted.textContent = text
    counted.classList.toggle('wrong', many > most)
  }
  function drawMachines(v) {
    const first = v.parameters.filter(p => p.first)
    for (const p of first) parameter(p)
    const order = [...new Set([...first.map(p => p.name), ...Object.keys(values)])].map(name => values[name].row)
    if (order.some((row, k) => rowsOfMachines.children[k] !== row)) rowsOfMachines.append(...order)
    for (const [name, { input, label, error, row }] of Object.entries(values)) {
      const p = v.parameters.find(one => one.name === name), wrong = v.wrong.field === name
      row.hidden = !p && !wrong
      if (p) {
        label.textContent = sentence(p.label) + (p.unit && !p.label.endsWith(p.unit) ? `, ${p.unit}` : '')
        input.setAttribute('aria-label', `${sentence(p.label)}, ${p.unit || 'names'}: values with commas between`)
        input.placeholder = p.own || 'as it is'
        row.title = p.meaning
      }
      input.setAttribute('aria-invalid', String(wrong))
      error.textContent = wrong ? v.wrong.message : ''
      if (wrong) machines.open = true
    }
    const left = v.parameters.filter(p => !values[p.name])
    const key = left.map(p => p.name).join()
    if (others.dataset.key !== key) {
      others.dataset.key = key
      others.replaceChildren(h('option', { value: '' }, 'parameter …'), ...left.map(p => h('option', { value: p.name, title: p.meaning }, p.unit ? `${p.label}, ${p.unit}` : p.label)))
    }
    machinesError.textContent = v.wrong.field === 'parameters' ? v.wrong.message : ''
    if (v.wrong.field === 'parameters') machines.open = true
    drawCount()
  }
  const sentence = text => text.charAt(0).toUpperCase() + text.slice(1)
  const zeros = h('input', { type: 'checkbox', name: 'nonzero' })
  const without = h('label', { class: 'field check', title: 'Search once more with results that leave out their zeros, such as those of a relu, where the estimate says that it saves cycles', 'data-help': 'search.space' }, zeros, h('span', {}, 'Leave zeros of results out'))
  const begin = h('button', { class: 'button primary', 'data-action': 'start', on: { click: start } }, 'Start search')
  const stop = h('button', { class: 'button primary', 'data-action': 'stop', title: 'Ends the search; what it has found stays in the table', on: { click: () => model.send_msg({ kind: 'cancel' }) } }, 'Cancel')
  const bar = h('progress', { max: 1, 'aria-label': 'Progress of the search' })
  const said = h('p', { class: 'said', 'data-help': 'search.bound', role: 'status', 'aria-live': 'polite' })
  const settings = h('section', { class: 'settings' }, h('h3', {}, 'New search'), choices, about, goal,
    field('seconds', 'Stop after', 's', 'Seconds after which the best so far is taken and simulated', 'search.effort'),
    field('gap', 'Stop at a gap of', '%', 'Share of the cycles, or of the objective, by which a better schedule may be missed', 'search.gap'),
    field('runs', 'Simulate at most', 'regions', 'Runs of regions after which the best so far is taken', 'search.effort'),
    field('lanes', 'Lanes in a region', 'at most', 'Copies of the same nodes side by side; 0: as many as the design asks for; several, with commas between: machines that have room for so many', 'lanes'),
    field('copies', 'Tensors stored twice', 'at most', 'Inputs that a region may read in a second mode order, as copies', 'search.space'),
    without, limits, machines,
    h('div', { class: 'keys' }, begin, stop), bar, said)

  function start() {
    const plain = strategy === 'random'
    const asked = { strategy, nonzero: zeros.checked && !without.hidden }
    if (!plain) Object.assign(asked, { objective: goals.value, rules: rules.value, every: every.checked, parameters: Object.fromEntries(wanted().map(([name, { input }]) => [name, input.value])) })
    for (const [name, { input }] of Object.entries(fields)) if (input.value.trim() && !(plain && LIMITS.includes(name))) asked[name] = input.value.trim()
    model.send_msg({ kind: 'start', values: asked })
  }

  function choose(name, focus) {
    strategy = name
    draw()
    if (focus) choices.querySelector('[aria-checked=true]').focus()
  }

  choices.addEventListener('keydown', event => {
    const names = Object.keys(WORDS), k = names.indexOf(strategy)
    const to = { ArrowRight: k + 1, ArrowDown: k + 1, ArrowLeft: k - 1, ArrowUp: k - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    choose(names[(to + names.length) % names.length], true)
  })

  function drawSettings(v) {
    choices.replaceChildren(...Object.keys(WORDS).map(name => h('button', { role: 'radio', 'aria-checked': String(name === strategy), tabindex: name === strategy ? 0 : -1, 'data-strategy': name, on: { click: () => choose(name) } }, WORDS[name])))
    about.textContent = v.strategies[strategy]
    fields.gap.row.hidden = strategy !== 'auto'
    fields.runs.row.hidden = strategy !== 'random'
    goal.hidden = limits.hidden = machines.hidden = strategy === 'random'
    if (!goals.options.length) goals.append(...Object.entries(v.objectives).map(([name, one]) => h('option', { value: name, title: one.text }, name === one.unit ? GOALS[name] : `${GOALS[name]}, ${one.unit}`)))
    goals.title = v.objectives[goals.value].text
    rules.title = v.rules
    const budget = fields.area.input.value.trim() || fields.energy.input.value.trim()
    without.hidden = strategy === 'random' || goals.value !== 'cycles' || !!budget || wanted().length > 0 || several(fields.lanes.input.value) > 1
    goalError.textContent = v.wrong.field === 'objective' ? v.wrong.message : ''
    rulesError.textContent = v.wrong.field === 'rules' ? v.wrong.message : ''
    rules.setAttribute('aria-invalid', String(v.wrong.field === 'rules'))
    if (LIMITS.includes(v.wrong.field)) limits.open = true
    for (const [name, { input, error }] of Object.entries(fields)) {
      input.placeholder = name === 'lanes' ? String(v.lanes) : v.own[name] === null ? 'no limit' : String(+(+v.own[name]).toFixed(3))
      const wrong = v.wrong.field === name
      input.setAttribute('aria-invalid', String(wrong))
      error.textContent = wrong ? v.wrong.message : ''
    }
    drawMachines(v)
    const focused = el.getRootNode().activeElement
    begin.hidden = v.running
    stop.hidden = bar.hidden = !v.running
    if (focused === begin && v.running) stop.focus()
    if (focused === stop && !v.running) begin.focus()
    if (v.share > 0) bar.value = v.share
    else bar.removeAttribute('value')
    const kept = v.searched.bests?.length
    said.className = v.failed ? 'said failed' : 'said'
    const message = v.running ? v.status : v.failed ? v.status : v.status === 'cancelled' ? (kept ? 'Cancelled. What was found is kept: click one to load it.' : 'Cancelled before anything was found.') : v.searched.told || ''
    if (said.textContent !== message) said.textContent = message
  }

  // The curve ------------------------------------------------------------------------------
  const plot = h('div', { class: 'plot', role: 'img' })
  const axis = h('span', { class: 'segment small', role: 'group', 'aria-label': 'Axis' }, ['seconds', 'runs'].map(name => h('button', { 'aria-pressed': String(name === over), 'data-axis': name, on: { click: () => { over = name; drawnAt = ''; draw() } } }, name === 'runs' ? 'runs' : 'seconds')))
  const foot = h('p', { class: 'quiet foot' })
  const what = h('small', { 'data-help': 'search.best' })
  const curve = h('section', { class: 'curve' }, h('h3', {}, 'Best so far ', what, axis), plot, foot)
  new ResizeObserver(() => { drawnAt = ''; drawCurve(model.view) }).observe(plot)

  const make = (tag, attributes, text) => {
    const node = document.createElementNS(SVG, tag)
    for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, v)
    if (text !== undefined) node.textContent = text
    return node
  }

  function drawCurve(v) {
    if (!there(model)) return
    const found = v.searched, points = found.points || []
    axis.querySelectorAll('button').forEach(b => b.setAttribute('aria-pressed', String(b.dataset.axis === over)))
    const width = plot.clientWidth, height = plot.clientHeight
    what.textContent = unit(v) === 'cycles' ? 'cycles, over their lower bound' : `${GOALS[found.wishes.objective]}, ${unit(v)}, over its lower bound`
    const key = JSON.stringify([unit(v), points.length, points[points.length - 1], width, height, over])
    if (key === drawnAt || width < 40) return
    drawnAt = key
    const known = points.filter(p => p[2] !== null)
    if (!known.length) {
      plot.replaceChildren(h('p', { class: 'quiet' }, points.length || v.running ? 'Nothing was simulated yet.' : 'No search yet. Start one to see the best schedule fall and its lower bound rise.'))
      plot.setAttribute('aria-label', 'No search yet')
      foot.textContent = ''
      return
    }
    const last = known[known.length - 1], best = last[2], bound = points[points.length - 1][3]
    const gap = bound > 0 ? `gap ${(100 * Math.max(0, 1 - bound / best)).toFixed(1)} %` : 'no bound'
    const part = (key, text) => h('span', { 'data-help': key }, text)
    foot.replaceChildren(part('search.best', `best ${amount(v, best)}`), ' · ', part('search.bound', `bound ${bound > 0 ? '≥ ' + amount(v, bound) : '–'}`), ' · ', part('search.gap', gap))
    plot.setAttribute('aria-label', `Best ${amount(v, best)}, ${gap}, after ${last[0]} s and ${last[1]} simulated regions`)
    const left = 62, right = 10, top = 8, bottom = 26
    const x = over === 'seconds' ? p => p[0] : p => p[1]
    const end = Math.max(...points.map(x), over === 'seconds' ? .1 : 1)
    const lows = points.map(p => p[3]).filter(b => b > 0)
    const high = Math.max(...known.map(p => p[2])) * 1.15, low = Math.min(best, ...lows) * .87
    const px = value => left + (width - left - right) * value / end
    const py = value => top + (height - top - bottom) * (1 - Math.log(value / low) / Math.log(high / low))
    const svg = make('svg', { width, height, viewBox: `0 0 ${width} ${height}` })
    for (const tick of logTicks(low, high, 5)) {
      svg.append(make('line', { x1: left, x2: width - right, y1: py(tick), y2: py(tick), class: 'grid' }), make('text', { x: left - 6, y: py(tick) + 4, 'text-anchor': 'end', 'data-help': 'search.best' }, figure(v, tick)))
    }
    for (const value of evenTicks(0, end, 5)) {
      if (over === 'runs' && value !== Math.round(value)) continue
      const side = px(value) > width - right - 16 ? 'end' : value ? 'middle' : 'start'
      svg.append(make('text', { 'data-help': 'search.effort', x: px(value), y: height - 8, 'text-anchor': side }, over === 'seconds' ? `${value} s` : number(value)))
    }
    const steps = (list, value) => list.map((p, k) => k ? `H${px(x(p)).toFixed(1)}V${py(value(p)).toFixed(1)}` : `M${px(x(p)).toFixed(1)} ${py(value(p)).toFixed(1)}`).join('') + `H${px(end).toFixed(1)}`
    const below = points.filter(p => p[3] > 0)
    if (below.length) {
      svg.append(make('path', { class: 'between', d: `M${px(x(below[0])).toFixed(1)} ${height - bottom}V${py(below[0][3]).toFixed(1)}${steps(below, p => p[3]).replace(/^M[^HV]*/, '')}V${height - bottom}Z` }))
      svg.append(make('path', { class: 'bound', d: steps(below, p => p[3]) }))
    }
    svg.append(make('path', { class: 'best', d: steps(known, p => p[2]) }))
    for (const p of known) {
      if (p !== known[0] && p[2] === known[known.indexOf(p) - 1][2]) continue
      const dot = make('circle', { cx: px(x(p)), cy: py(p[2]), r: 3, class: 'dot' })
      dot.append(make('title', {}, `${amount(v, p[2])} after ${p[0]} s, ${p[1]} simulated regions`))
      svg.append(dot)
    }
    plot.replaceChildren(svg)
  }

  // The best found -------------------------------------------------------------------------
  const rows = h('tbody')
  const scheduleHead = h('th', { scope: 'col' }, 'schedule')
  const valueHead = h('th', { scope: 'col', class: 'figure', 'data-help': 'search.best' }, 'cycles')
  const bests = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Best schedules found' }, h('table', {}, h('thead', {}, h('tr', {}, valueHead, h('th', { scope: 'col', class: 'figure', 'data-help': 'search.effort' }, 'after'), scheduleHead)), rows))
  const best = h('section', { class: 'machine', 'aria-label': 'Best machine' })
  curve.append(best, bests)
  const setting = t => `${t.label} ${t.value}${t.unit ? ` ${t.unit}` : ''}`
  const settingsOf = texts => texts.map(setting).join(', ')
  /** Whether what is shown is the program and the data that were searched, on one of the machines. */
  const same = v => [v.searched.problem, ...(v.searched.bests || []).map(b => b.machine?.problem)].includes(v.problem)

  function drawMachine(v) {
    const found = v.searched, [first] = found.bests || [], known = found.machines
    best.hidden = !first?.machine
    if (best.hidden) return best.replaceChildren()
    const focused = best.contains(el.getRootNode().activeElement) ? el.getRootNode().activeElement.dataset.action : ''
    const opened = best.querySelector('details')?.open
    const off = v.running ? 'The search goes on' : same(v) ? '' : 'It was found for another program or data set, or the machine was edited since'
    const goal = unit(v) === 'cycles' ? 'cycles' : `${GOALS[found.wishes.objective]}, ${unit(v)}`
    const cell = (help, value, text) => h('td', { class: 'figure', 'data-help': help }, value === null || value === 0 ? '–' : text(value))
    const heads = (...names) => h('thead', {}, h('tr', {}, names.map(([text, help]) => h('th', { scope: 'col', class: help && 'figure', 'data-help': help }, text))))
    const numbers = row => [cell('search.best', row.value, x => figure(v, x)), cell('search.bound', row.bound, x => figure(v, x))]
    const mark = row => row.best ? h('span', { class: 'chosen', title: 'Of the best machine' }, ' ✓') : ''
    best.replaceChildren(h('h3', {}, known ? 'Best machine' : 'Best machine so far', h('button', { class: 'button', 'data-action': 'use', disabled: !!off, title: off || 'Takes over the machine with its schedule; Undo goes back, the schedule first', on: { click: () => model.send_msg({ kind: 'use', number: 0 }) } }, 'Use')),
      h('p', { class: 'chosen', 'data-help': 'machine.parameter' }, settingsOf(first.machine.texts)),
      h('code', { title: first.schedule }, first.schedule || '(every statement alone)'),
      ...(known ? [h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Effects of parameters' }, h('table', { class: 'effects' }, heads(['parameter'], ['value', 'machine.parameter'], [`best ${goal}`, 'search.best'], ['at least', 'search.bound']),
        h('tbody', {}, known.effects.map((e, k) => h('tr', { class: e.best && 'own' }, e.texts[0].name === known.effects[k - 1]?.texts[0].name ? '' : h('th', { scope: 'rowgroup', rowspan: known.effects.filter(one => one.texts[0].name === e.texts[0].name).length }, e.texts[0].label), h('td', { class: 'figure', 'data-help': 'machine.parameter' }, `${e.texts[0].value} ${e.texts[0].unit}`.trim(), mark(e)), numbers(e)))))),
        h('details', { open: opened }, h('summary', {}, known.number > known.ranked.length ? `The best ${known.ranked.length} of ${number(known.number)} machines` : `All ${number(known.number)} machines`),
          h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Machines' }, h('table', { class: 'effects' }, heads(['machine'], [`best ${goal}`, 'search.best'], ['at least', 'search.bound'], ['schedules']),
            h('tbody', {}, known.ranked.map(m => h('tr', { class: m.best && 'own' }, h('th', { scope: 'row', 'data-help': 'machine.parameter' }, settingsOf(m.texts)), numbers(m), h('td', { class: 'verdict', 'data-help': 'search.bound' }, m.verdict)))))))] : []))
    if (focused) best.querySelector(`[data-action=${focused}]`)?.focus()
  }

  function drawBests(v) {
    const found = v.searched, list = found.bests || []
    bests.hidden = !list.length
    valueHead.textContent = unit(v) === 'cycles' ? 'cycles' : `${GOALS[found.wishes.objective]}, ${unit(v)}`
    scheduleHead.textContent = list[0]?.machine ? 'machine: schedule' : 'schedule'
    const at = [...rows.querySelectorAll('button')].indexOf(el.getRootNode().activeElement)
    const ours = b => b.machine ? same(v) : found.problem === v.problem
    const text = b => `${b.machine ? `${settingsOf(b.machine.texts)}: ` : ''}${b.schedule || '(every statement alone)'}`
    const take = (b, k) => model.send_msg(b.machine ? { kind: 'use', number: k } : { kind: 'take', schedule: b.schedule })
    rows.replaceChildren(...list.map((b, k) => h('tr', {}, h('td', { class: 'figure', 'data-help': 'search.best', title: `${number(b.cycles)} cycles` }, figure(v, b.value)), h('td', { class: 'figure', 'data-help': 'search.effort', title: `${b.runs} simulated regions` }, `${b.seconds} s`),
      h('td', { class: 'text' }, h('button', { class: 'load', disabled: !ours(b) || v.running, title: ours(b) ? `Load this ${b.machine ? 'machine and ' : ''}schedule:\n${text(b)}` : 'It was found for another program, data set or machine', 'data-load': b.cycles, 'data-help': b.machine ? 'machine.parameter' : null, on: { click: () => take(b, k) } }, text(b))))))
    if (at >= 0) rows.querySelectorAll('button')[at]?.focus()
  }

  // The funnel -----------------------------------------------------------------------------
  const fell = h('section', { class: 'funnel' })

  function drawFunnel(v) {
    const { funnel = [], space } = v.searched
    const most = Math.max(...funnel.map(f => Math.log10(f.count + 1)), 1)
    const line = (name, text, share, kind, title, more) => h('li', { class: kind, title, tabindex: 0, 'data-help': 'search.ways', 'aria-label': `${name}: ${text}. ${title}` }, h('span', { class: 'name' }, name), h('span', { class: 'track' }, h('i', { style: `width:${(100 * Math.min(1, share)).toFixed(1)}%` })), h('span', { class: 'figure' }, text), more ? h('small', {}, more) : '')
    fell.replaceChildren(h('h3', {}, 'What fell, and why ', h('small', {}, 'logarithmic')),
      space ? h('p', {}, 'The space has ', h('b', { class: 'space', 'data-help': 'search.space', title: space.digits }, space.text), ` schedules${space.exact ? ', counted exactly' : '; there was no time to count all'}.`) : '',
      funnel.length ? h('ul', { 'aria-label': 'Candidates of regions by what became of them' }, funnel.map(f => line(f.name, number(f.count), Math.log10(f.count + 1) / most, f.kind, f.meaning, f.example ? `e.g. ${f.example}` : '')))
        : h('p', { class: 'quiet' }, 'Every way of a region that the search meets is counted here, by the rule or the number that removed it.'),
      funnel.length ? h('p', { class: 'quiet' }, 'Counts are ways of regions: one removed way removes every schedule that has it.') : '')
  }

  // Why not --------------------------------------------------------------------------------
  const own = h('textarea', { rows: 3, spellcheck: 'false', 'aria-label': 'A schedule to ask about', placeholder: 'fuse T1..H; order T1..H: i,k,p,n' })
  const answer = h('div', { class: 'answer', role: 'status', 'aria-live': 'polite' })
  const ask = text => model.send_msg({ kind: 'why', text })
  const shown = h('button', { class: 'button', 'data-action': 'why', on: { click: () => ask('') } }, 'Ask for the design shown')
  const pasted = h('button', { class: 'button', 'data-action': 'why-text', on: { click: () => own.value.trim() && ask(own.value) } }, 'Ask for this text')
  own.addEventListener('keydown', event => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); event.stopPropagation(); pasted.click() } })
  const why = h('section', { class: 'why' }, h('h3', {}, 'Why not this schedule?'),
    h('p', { class: 'quiet' }, 'The answer says by which rule or number a schedule falls: a rule of the compiler, its lower bound, its estimate or its run against the best.'),
    shown, h('details', {}, h('summary', {}, 'Another schedule, as text'), own, pasted), answer)

  function drawWhy(v) {
    const a = v.verdict
    shown.title = `${v.schedule || 'every statement alone'}\n${v.simulated || v.estimate}`
    if (!a.text) return answer.replaceChildren()
    const row = (name, text) => text ? [h('dt', { 'data-help': 'search.verdict' }, name), h('dd', { 'data-help': 'search.verdict' }, text)] : []
    answer.replaceChildren(h('p', { class: `fate ${a.fate}`, 'data-help': 'search.verdict' }, a.text), h('dl', {}, row(`best of ${a.from}`, a.best), row('at least, proved', a.least), row('expected', a.expected), row('simulated', a.cycles)),
      a.fate === 'unknown' || a.fate === 'not legal' ? '' : h('p', { class: 'quiet' }, !a.searched && asked(v) ? 'The last search looked at more than cycles, which this answer compares.' : !a.searched ? 'Nothing was searched for this problem yet.' : a.outside.length ? `It is not in the space that was searched: ${a.outside.join('; ')}.` : 'It is in the space that was searched.'),
      v.old ? h('p', { class: 'quiet old' }, 'The design has changed since this answer.') : '')
  }

  el.append(h('div', { class: 'frame' }, settings, curve, fell, why))

  function draw() {
    if (!there(model)) return
    const v = model.view
    drawSettings(v)
    drawCurve(v)
    drawMachine(v)
    drawBests(v)
    drawFunnel(v)
    drawWhy(v)
  }

  model.on('view', draw)
  draw()
}
