/** Kernels and bytes through memory: unfused, by XLA's rules of 2018, by deep fusion; of all frames, or of one. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const WAYS = { unfused: 'each operation a kernel', baseline: "XLA's rules of 2018", fused: 'deep fusion' }
  const count = n => n.toLocaleString('en')
  const of = h('select', { 'aria-label': 'Frames that are counted', on: { change: () => draw() } })
  const body = h('div', {})
  el.append(h('div', { class: 'head' }, h('b', {}, 'Kernels and bytes moved'), h('label', { class: 'field' }, 'of ', of)), body)

  function draw() {
    const v = model.view
    if (!v.whole) return
    const names = v.frames.map(one => one.name)
    if (of.dataset.of !== names.join('\n')) {
      of.dataset.of = names.join('\n')
      of.replaceChildren(h('option', { value: '' }, names.length > 1 ? `all ${names.length} frames, each once` : 'the module'), ...(names.length > 1 ? names.map(name => h('option', { value: name }, name)) : []))
    }
    const shown = v.frames.find(one => one.name === of.value) ?? v.whole
    const most = key => Math.max(...Object.keys(WAYS).map(way => shown[way][key]), 1)
    const bar = (value, all) => h('span', { class: 'bar', 'aria-hidden': 'true' }, h('i', { style: `width: ${100 * value / all}%` }))
    const { unfused, baseline, fused } = shown
    const times = (a, b) => b ? `${(a / b).toPrecision(2)} ×` : '—'
    body.replaceChildren(h('div', { class: 'wrap', tabindex: 0, role: 'group', 'aria-label': 'Kernels and bytes' }, h('table', {}, h('thead', {}, h('tr', {}, ['way to fuse', 'kernels', 'calls', 'read', 'written', 'moved'].map(text => h('th', { scope: 'col' }, text)))),
      h('tbody', {}, Object.entries(WAYS).map(([way, text]) => h('tr', { class: way }, h('th', { scope: 'row' }, text), h('td', {}, count(shown[way].kernels), bar(shown[way].kernels, most('kernels'))), h('td', {}, count(shown[way].calls)), h('td', {}, bytes(shown[way].read)), h('td', {}, bytes(shown[way].written)), h('td', {}, bytes(shown[way].moved), bar(shown[way].moved, most('moved')))))))),
      h('p', { class: 'said' }, `Deep fusion makes ${times(fused.kernels, baseline.kernels)} the kernels of XLA's rules, which move ${times(fused.moved, baseline.moved)} the bytes; of unfused operations ${times(fused.kernels, unfused.kernels)} and ${times(fused.moved, unfused.moved)}.`),
      h('p', { class: 'quiet' }, 'Calls of libraries are no kernels here; bytes are of both. Each array is read once by a kernel; caches are not counted. Bodies of loops count once.'),
      ...(v.frames.length > 1 ? [frames(v)] : []))
  }

  function frames(v) {
    const three = (one, key, told) => Object.keys(WAYS).map(way => h('td', {}, told(one[way][key])))
    return h('div', { class: 'wrap frames', tabindex: 0, role: 'group', 'aria-label': 'Each frame' }, h('table', {}, h('caption', {}, 'Each frame: kernels, and bytes moved, unfused, by XLA, fused'),
      h('thead', {}, h('tr', {}, ['frame', 'kernels', 'XLA', 'fused', 'moved', 'XLA', 'fused'].map(text => h('th', { scope: 'col' }, text)))),
      h('tbody', {}, v.frames.map(one => h('tr', { class: one.name === v.frame ? 'own' : null }, h('th', { scope: 'row' }, one.name), three(one, 'kernels', count), three(one, 'moved', bytes))))))
  }

  draw()
  model.on('view', draw)
}
