/** The form of a network: what it is, its tree, its data, the bound with its verdicts, pins. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const change = changes => model.send_msg({ kind: 'change', changes })
  const fields = {}

  /** A field that tells its value when it is left, or on Enter. */
  function field(key, label, { read = value => value, wide = false, list = null, help = '', size = 0 } = {}) {
    const input = h('input', { type: 'text', spellcheck: 'false', autocomplete: 'off', list, title: help, size: size || null, on: {
      change: () => change({ [key]: read(input.value.trim()) }),
    } })
    fields[key] = input
    return h('label', { class: wide ? 'field wide' : 'field' }, h('span', {}, label), input)
  }
  const number = value => value === '' ? null : Number.isFinite(Number(value)) ? Number(value) : value

  const known = h('select', { 'aria-label': 'Network', on: { change: () => known.value && model.send_msg({ kind: 'shipped', name: known.value }) } })
  const encoding = h('select', { on: { change: () => change({ encoding: encoding.value }) } },
    h('option', { value: 'paper' }, "the paper's text"), h('option', { value: 'released' }, 'its authors’ program'))
  const undo = h('button', { class: 'button', type: 'button', title: 'Take the last change back (Ctrl+Z)', on: { click: () => model.send_msg({ kind: 'undo' }) } }, 'Undo')
  const cancel = h('button', { class: 'button', type: 'button', on: { click: () => model.send_msg({ kind: 'cancel' }) } }, 'Cancel')
  const link = h('a', { class: 'link', title: 'An address that opens this network again' }, 'Link')
  const bar = h('progress', { max: 1, 'aria-label': 'Progress' })
  const doing = h('span', { class: 'quiet doing' })
  const by = name => h('button', { class: 'button', type: 'button', title: `Let ${name} choose the tree`, on: { click: () => change({ tree: name }) } }, name)
  const status = statusLine()
  const bounds = h('div', { class: 'bounds', role: 'radiogroup', 'aria-label': 'Most dimensions of an intermediate' })
  const slider = h('input', { type: 'range', min: 0, step: 1, 'aria-label': 'Most dimensions of an intermediate', on: { change: () => change({ bound: Number(slider.value) }) } })
  const why = h('div', { class: 'why', 'aria-live': 'polite' })
  const pareto = h('div', { class: 'pareto' })
  const pins = h('div', { class: 'pins' })
  const pin = h('input', { type: 'text', placeholder: 'outermost i · loops X1: i,j · layout A: k,i', 'aria-label': 'Add a pin', size: 34, spellcheck: 'false', on: { change: () => {
    const value = pin.value.trim()
    if (value) change({ pins: [...model.view.asked.pins, value] })
    pin.value = ''
  } } })

  el.append(
    h('div', { class: 'line' },
      h('label', { class: 'field' }, h('span', {}, 'network'), known),
      field('einsum', 'einsum', { wide: true, help: 'e.g. ij,jk->ik; operands are A, B, …' }),
      field('extents', 'sizes', { wide: true, help: 'of each index, e.g. i=10,j=20' }),
      h('div', { class: 'does' }, undo, link)),
    h('div', { class: 'line' },
      field('tree', 'tree', { wide: true, help: 'e.g. ((A B) C); empty: one after the other' }), by('opt_einsum'), by('cotengra'),
      field('density', 'density', { read: number, size: 5, help: 'of each operand’s random elements, above 0, at most 1' }),
      field('seed', 'seed', { read: number, size: 4 }),
      h('label', { class: 'field' }, h('span', {}, 'constraints of'), encoding),
      field('most_bytes', 'most bytes', { read: number, size: 9, help: 'of an intermediate; empty for no limit' })),
    h('div', { class: 'ask' },
      h('section', {}, h('h3', {}, 'Most dimensions of an intermediate'), h('div', { class: 'steps' }, slider, bounds), why),
      h('section', {}, h('h3', {}, 'A bound for each'), pareto),
      h('section', {}, h('h3', {}, 'Pins'), pins, pin)),
    h('div', { class: 'line state' }, bar, doing, cancel, status))

  el.addEventListener('keydown', event => {
    if (event.key === 'z' && (event.ctrlKey || event.metaKey) && event.target.tagName !== 'INPUT') {
      model.send_msg({ kind: 'undo' })
      event.preventDefault()
    }
  })

  function draw() {
    if (!there(model)) return
    const v = model.view
    const asked = v.asked
    if (known.options.length !== v.shipped.length + 1)
      known.replaceChildren(h('option', { value: '' }, '(own)'), ...v.shipped.map(s => h('option', { value: s.name }, s.name)))
    const same = v.shipped.find(s => s.name === asked.name && s.einsum === asked.einsum)
    known.value = same ? same.name : ''
    for (const [key, input] of Object.entries(fields)) {
      const value = asked[key] === null ? '' : String(asked[key])
      if (input.dataset.sent !== value) input.value = value
      input.dataset.sent = value
    }
    encoding.value = asked.encoding
    undo.disabled = !v.undo
    link.href = v.link
    const busy = v.busy.text !== ''
    bar.hidden = doing.hidden = cancel.hidden = !busy
    bar.value = v.busy.share
    doing.textContent = busy ? `${v.busy.text} …` : ''
    verdicts(v)
    vectors(v)
    pins.replaceChildren(...asked.pins.map((text, n) => h('span', { class: 'pin' }, text,
      h('button', { type: 'button', 'aria-label': `Remove the pin ${text}`, on: { click: () => change({ pins: asked.pins.filter((_, k) => k !== n) }) } }, '×'))))
  }

  /** One button per bound: whether there is a solution. */
  function verdicts(v) {
    const each = v.asked.bounds.length > 0
    const chosen = each ? null : v.asked.bound ?? v.least
    slider.max = Math.max(0, v.verdicts.length - 1)
    slider.value = chosen ?? 0
    slider.disabled = v.verdicts.length < 2
    bounds.replaceChildren(...v.verdicts.map(one => h('button', {
      type: 'button', role: 'radio', 'aria-checked': String(one.bound === chosen), class: `bound ${one.verdict}`, 'data-bound': one.bound,
      title: `${one.variables} variables, ${one.constraints} constraints, ${(one.seconds * 1e3).toFixed(0)} ms`,
      on: { click: () => change({ bound: one.bound }) },
    }, h('b', {}, String(one.bound)), h('span', {}, { sat: 'sat ✓', unsat: 'unsat ✕', unknown: 'no answer' }[one.verdict]))))
    const shown = v.verdicts.find(one => one.bound === chosen) ?? null
    const blocked = shown?.verdict === 'unsat' ? shown : v.verdicts.filter(one => one.verdict === 'unsat').at(-1)
    why.replaceChildren(...(each ? [h('p', { class: 'quiet' }, `bounds per intermediate: ${v.asked.bounds.map(([n, b]) => `${n} ≤ ${b}`).join(', ')}`)] : []),
      ...(blocked ? [h('p', {}, `With ${blocked.bound} dimension${blocked.bound === 1 ? '' : 's'} there is no solution. What forbids it together, and none of it can be left out:`), h('ul', {}, blocked.why.map(text => h('li', {}, text)))]
        : v.verdicts.length ? [h('p', { class: 'quiet' }, 'Every bound has a solution.')] : []),
      ...(shown ? [h('p', { class: 'quiet' }, `${shown.variables} variables, ${shown.constraints} constraints, ${(shown.seconds * 1e3).toFixed(0)} ms`)] : []))
  }

  function vectors(v) {
    if (v.pareto === null) {
      pareto.replaceChildren(h('p', { class: 'quiet' }, 'One bound for all is coarse. The smallest bounds per intermediate:'),
        h('button', { class: 'button', type: 'button', disabled: !v.verdicts.length, on: { click: () => model.send_msg({ kind: 'pareto' }) } }, 'Find them'))
      return
    }
    const names = v.pareto[0]?.map(([name]) => name) ?? []
    const now = JSON.stringify(v.asked.bounds)
    pareto.replaceChildren(h('table', {}, h('thead', {}, h('tr', {}, ...names.map(name => h('th', {}, name)), h('th', {}))),
      h('tbody', {}, v.pareto.map(vector => h('tr', { class: JSON.stringify(vector) === now ? 'on' : null }, ...vector.map(([, bound]) => h('td', {}, String(bound))),
        h('td', {}, h('button', { class: 'button', type: 'button', 'aria-label': `Use the bounds ${vector.map(([n, b]) => `${n} ${b}`).join(', ')}`, on: { click: () => change({ bounds: vector }) } }, 'use')))))))
  }

  draw()
  model.on('view', draw)
  const tell = () => status.show(model.status)
  tell()
  model.on('status', tell)
}
