/** Tile by tile: the part that each call computes, in every data structure. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const slider = h('input', { type: 'range', min: 0, step: 1, 'aria-label': 'Call', on: { input: () => { pause(); at = Number(slider.value); show() } } })
  const play = h('button', { class: 'button', type: 'button', on: { click: () => timer ? pause() : run() } }, '▶ Play')
  const said = h('p', { class: 'said', role: 'status' })
  const all = h('div', { class: 'all' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'Tiles'), h('span', { class: 'legend' }, h('span', {}, h('span', { class: 'swatch now' }), 'computed now'), h('span', {}, h('span', { class: 'swatch read' }), 'read'), h('span', {}, h('span', { class: 'swatch done' }), 'computed before'))), h('div', { class: 'bar' }, play, slider), said, all)
  let at = 0
  let timer = 0
  let key = ''

  function run() {
    play.textContent = '❚❚ Pause'
    timer = setInterval(() => {
      if (!el.isConnected) { pause(); return }
      at = (at + 1) % model.view.steps.length
      slider.value = at
      show()
    }, window.matchMedia('(prefers-reduced-motion: reduce)').matches ? 900 : 260)
  }

  function pause() {
    clearInterval(timer)
    timer = 0
    play.textContent = '▶ Play'
  }

  function draw() {
    const v = model.view
    if (!v.steps) return
    if (model.drawn !== key) {
      key = model.drawn
      at = Math.min(at, v.steps.length - 1)
    }
    slider.max = Math.max(0, v.steps.length - 1)
    slider.value = at
    show()
  }

  const rect = (b, whole, W, H, kind) => shape('rect', { x: (b[1] - whole[1]) * W / whole[3], y: (b[0] - whole[0]) * H / whole[2], width: Math.max(1.5, b[3] * W / whole[3]), height: Math.max(1.5, b[2] * H / whole[2]), class: kind })

  function show() {
    const v = model.view
    const now = v.steps[at]
    if (!now) return
    said.textContent = `call ${at + 1} of ${v.steps.length} drawn: ${now.call} computes ${now.box[2].toLocaleString('en')} × ${now.box[3].toLocaleString('en')} of ${now.output}`
    all.replaceChildren(...v.data.map(data => {
      const tall = Math.max(data.box[2], 1), wide = Math.max(data.box[3], 1)
      const scale = 104 / Math.max(tall, wide)
      const W = Math.max(7, wide * scale), H = Math.max(7, tall * scale)
      const svg = shape('svg', { width: W, height: H, viewBox: `0 0 ${W} ${H}`, 'aria-hidden': 'true' })
      svg.append(shape('rect', { x: 0, y: 0, width: W, height: H, class: 'whole' }))
      const before = v.steps.slice(0, at).filter(step => step.output === data.name)
      const past = data.result ? before : before.slice(-1)
      past.forEach(step => svg.append(rect(step.box, data.box, W, H, 'done')))
      if (now.output === data.name) svg.append(rect(now.box, data.box, W, H, 'now'))
      const read = now.reads.includes(data.name)
      return h('figure', { class: read ? 'reads' : null }, svg, h('figcaption', {}, h('b', {}, data.name), ` ${tall.toLocaleString('en')}${wide > 1 ? ` × ${wide.toLocaleString('en')}` : ''}${data.given ? ' given' : data.result ? ' result' : ''}`))
    }))
  }

  draw()
  model.on('view', draw)
}
