/** What is mapped, and onto what: a kernel or a layer of a network; the array, its memory, rules and limits. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const change = changes => model.send_msg({ kind: 'change', changes })
  const fields = {}
  const number = text => text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text

  /** A field that tells its value when it is left, or on Enter. */
  function field(key, label, { read = text => text.trim(), wide = false, size = 6, help = '' } = {}) {
    const input = h('input', { type: 'text', spellcheck: 'false', autocomplete: 'off', title: help, size: wide ? null : size, on: { change: () => change({ [key]: read(input.value) }) } })
    fields[key] = input
    return h('label', { class: wide ? 'field wide' : 'field' }, h('span', {}, label), input)
  }

  /** A slider over powers of two, and the number itself. */
  function power(key, label, least, most, unit = '') {
    const slider = h('input', { type: 'range', min: least, max: most, step: 1, 'aria-label': `${label}, powers of two`, on: {
      input: () => { fields[key].value = String(2 ** Number(slider.value)) },
      change: () => change({ [key]: 2 ** Number(slider.value) }),
    } })
    fields[key] = h('input', { type: 'text', size: String(2 ** most).length + 1, spellcheck: 'false', 'aria-label': label, on: { change: () => change({ [key]: number(fields[key].value) }) } })
    sliders[key] = slider
    return h('div', { class: 'field' }, h('span', {}, label), h('span', { class: 'power' }, slider, fields[key], unit))
  }
  const sliders = {}
  const flag = (key, label, help = '') => {
    fields[key] = h('input', { type: 'checkbox', on: { change: () => change({ [key]: fields[key].checked }) } })
    return h('label', { class: 'flag', title: help }, fields[key], ` ${label}`)
  }

  const kernel = h('select', { 'aria-label': 'Kernel', on: { change: () => kernel.value && change({ kernel: kernel.value }) } })
  const network = h('select', { 'aria-label': 'Network', on: { change: () => network.value && change({ network: network.value }) } })
  const layer = h('select', { 'aria-label': 'Layer', on: { change: () => change({ layer: Number(layer.value) }) } })
  const undo = h('button', { class: 'button', type: 'button', title: 'Take the last change back (Ctrl+Z)', on: { click: () => model.send_msg({ kind: 'undo' }) } }, 'Undo')
  const cancel = h('button', { class: 'button', type: 'button', on: { click: () => model.send_msg({ kind: 'cancel' }) } }, 'Cancel')
  const link = h('a', { class: 'link', title: 'An address that opens this again' }, 'Link')
  const bar = h('progress', { max: 1, 'aria-label': 'Progress' })
  const doing = h('span', { class: 'quiet' })
  const status = statusLine()
  const sets = h('span', { class: 'sets', role: 'group', 'aria-label': 'Sets of rules' })
  const others = h('details', {}, h('summary', {}), h('ul', {}))

  const extents = field('extents', 'extents', { wide: true, help: 'e.g. m=32,k=32,n=32' })
  const einsum = h('input', { type: 'text', placeholder: 'ij,jk->ik', size: 12, spellcheck: 'false', 'aria-label': 'Einsum string', on: { change: () => einsum.value.trim() && change({ kernel: einsum.value.trim() }) } })
  const layerField = h('label', { class: 'field' }, h('span', {}, 'layer'), layer)
  el.append(
    h('div', { class: 'line' },
      h('label', { class: 'field' }, h('span', {}, 'kernel'), kernel), h('label', { class: 'field' }, h('span', {}, 'or einsum'), einsum), extents,
      h('label', { class: 'field' }, h('span', {}, 'or layer of a network'), network), layerField,
      h('div', { class: 'does' }, undo, link)),
    h('div', { class: 'line' },
      power('rows', 'rows of the array', 0, 9), power('columns', 'columns', 0, 9), power('buffer', 'buffer', 10, 24, ' bytes'),
      field('bandwidth', 'bandwidth, bytes per cycle', { read: number, help: 'between memory and buffer' }), field('word_bytes', 'bytes per element', { read: number, size: 3 }),
      h('div', { class: 'flags' }, flag('double_buffered', 'double-buffered', 'What the next call reads is moved while a call runs'),
        flag('optimal', 'prove the extraction', 'By CP-SAT, which counts shared parts once and proves that no term of the e-graph costs less'))),
    h('div', { class: 'line' },
      h('div', { class: 'field' }, h('span', {}, 'sets of rules'), sets), field('iterations', 'most iterations', { read: number, size: 4 }), field('nodes', 'most nodes', { read: number, size: 7 }),
      field('seconds', 'most seconds', { read: number, size: 4 }), field('seed', 'seed of the data', { read: number, size: 6 }), others),
    h('div', { class: 'line state' }, bar, doing, cancel, status))

  el.addEventListener('keydown', event => {
    if (event.key === 'z' && (event.ctrlKey || event.metaKey) && event.target.tagName !== 'INPUT') {
      model.send_msg({ kind: 'undo' })
      event.preventDefault()
    }
  })

  function options(select, entries, chosen) {
    const text = JSON.stringify(entries)
    if (select.dataset.of !== text) {
      select.dataset.of = text
      select.replaceChildren(...entries.map(([value, label]) => h('option', { value }, label)))
    }
    select.value = String(chosen)
  }

  function draw() {
    if (!there(model)) return
    const v = model.view
    const { asked } = v
    const known = asked.source === 'kernel' && v.kernels.some(k => k.name === asked.kernel)
    options(kernel, [['', asked.source === 'kernel' ? '(einsum)' : '(none)'], ...v.kernels.map(k => [k.name, k.name])], known ? asked.kernel : '')
    options(network, [['', '(none)'], ...v.networks.map(n => [n.name, n.text])], asked.source === 'network' ? asked.network : '')
    einsum.value = asked.source === 'kernel' && !known ? asked.kernel : ''
    extents.hidden = asked.source !== 'kernel'
    layerField.hidden = asked.source !== 'network' && v.layers.length < 2
    options(layer, v.layers.map((name, n) => [n, name]), asked.layer)
    for (const [key, input] of Object.entries(fields)) {
      const value = asked[key]
      if (input.type === 'checkbox') { input.checked = value; continue }
      if (input.dataset.sent !== String(value)) input.value = String(value)
      input.dataset.sent = String(value)
    }
    for (const [key, slider] of Object.entries(sliders)) slider.value = Math.round(Math.log2(asked[key]))
    sets.replaceChildren(...v.sets.map(set => h('label', { class: 'flag', title: set.text }, h('input', { type: 'checkbox', checked: asked.sets.includes(set.name), on: {
      change: event => change({ sets: v.sets.map(s => s.name).filter(name => name === set.name ? event.target.checked : asked.sets.includes(name)) }),
    } }), ` ${set.name}`)))
    others.hidden = !v.others.length
    others.firstChild.textContent = `${v.others.length} ${v.others.length === 1 ? 'computation is' : 'computations are'} not mapped`
    others.lastChild.replaceChildren(...v.others.map(one => h('li', {}, h('b', {}, one.name), `: ${one.reason}`)))
    undo.disabled = !v.undo
    link.href = v.link
    const busy = v.busy.text !== ''
    bar.hidden = doing.hidden = cancel.hidden = !busy
    bar.value = v.busy.share
    doing.textContent = busy ? `${v.busy.text} …` : ''
  }

  draw()
  model.on('view', draw)
  const tell = () => status.show(model.status)
  tell()
  model.on('status', tell)
}
