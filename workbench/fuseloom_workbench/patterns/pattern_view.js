/** An access pattern position by position: which elements of which tensors each position computes on. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const rect = (x, y, width, height, kind) => shape('rect', { x, y, width, height, class: kind })
  const MOST_PLANES = 4
  const head = h('div', { class: 'head' })
  const slider = h('input', { type: 'range', min: 0, step: 1, 'aria-label': 'Position', on: { input: () => { pause(); go(Number(slider.value)) } } })
  const step = by => () => { pause(); go(at + by) }
  const play = h('button', { class: 'button', type: 'button', on: { click: () => timer ? pause() : run() } }, '▶ Play')
  const bar = h('div', { class: 'bar' }, h('button', { class: 'button', type: 'button', 'aria-label': 'Position before', on: { click: step(-1) } }, '◀'), play,
    h('button', { class: 'button', type: 'button', 'aria-label': 'Next position', on: { click: step(1) } }, '▶'), slider)
  const said = h('p', { class: 'said' })
  const sides = h('div', { class: 'sides' })
  el.append(head, bar, said, sides)
  let at = 0  // the position that is shown
  let key = ''  // of which part
  let timer = 0

  function run() {
    play.textContent = '❚❚ Pause'
    timer = setInterval(() => {
      if (!el.isConnected) pause()
      else if (loaded(at)) go((at + 1) % model.view.count)
    }, window.matchMedia('(prefers-reduced-motion: reduce)').matches ? 900 : 220)
  }

  function pause() {
    clearInterval(timer)
    timer = 0
    play.textContent = '▶ Play'
  }

  const loaded = n => n >= model.view.start && n < model.view.start + model.view.positions.length

  function go(to) {
    const v = model.view
    at = Math.min(Math.max(to, 0), v.count - 1)
    slider.value = at
    if (loaded(at)) show()
    else model.send_msg({ kind: 'inspect', which: v.which, path: v.path, start: at })
  }

  /** The coordinates of a number within extents. */
  function coordinates(number, dims) {
    const found = []
    for (const extent of [...dims].reverse()) {
      found.unshift(number % extent)
      number = Math.floor(number / extent)
    }
    return found
  }

  function draw() {
    const v = model.view
    const none = !there(model)
    for (const part of [bar, said, sides]) part.hidden = none
    if (none) {
      head.replaceChildren(h('b', {}, 'Positions'), h('span', { class: 'quiet' }, 'Choose a line of a term.'))
      pause()
      return
    }
    const now = `${v.which} ${v.path}`
    if (now !== key || !loaded(at)) {
      if (now !== key) pause()
      key = now
      at = v.start
    }
    slider.max = Math.max(0, v.count - 1)
    slider.value = at
    slider.disabled = play.disabled = v.count < 2
    head.replaceChildren(h('b', {}, `Positions of ${v.construct}`), shapeChips(v.shape), shapeLegend())
    show()
  }

  function show() {
    const v = model.view
    const places = coordinates(at, v.shape.access)
    const each = v.operator ? `${v.operator} of ` : ''
    const told = v.positions[at - v.start]
    said.replaceChildren(h('span', {}, v.count === 1 ? 'One position' : `Position ${(at + 1).toLocaleString('en')} of ${v.count.toLocaleString('en')}`), v.shape.access.length ? h('code', { class: 'dims access' }, places.join(', ')) : '',
      h('span', { class: 'quiet' }, ` ${each}${v.shape.compute.length ? `${v.shape.compute.join(' × ')} elements` : 'one element'}${told.some(one => one.padded) ? ', some of them padding' : ''}`))
    slider.setAttribute('aria-valuetext', `position ${at + 1} of ${v.count}: ${places.join(', ')}`)
    sides.replaceChildren(...v.sides.map((side, n) => h('div', { class: 'side' }, side.sources.map(source => tensor(source, told[n].runs[source.name] ?? [])))))
  }

  /** A tensor in planes of its last two dimensions; those that the position sees come first. */
  function tensor(source, runs) {
    const [rows, columns] = source.plane
    const size = rows * columns
    const seen = new Map()
    let count = 0
    for (const [first, length] of runs) {
      for (let k = first; k < first + length;) {
        const plane = Math.floor(k / size)
        const offset = k - plane * size
        const row = Math.floor(offset / columns), column = offset % columns
        const run = Math.min(columns - column, first + length - k)
        if (!seen.has(plane)) seen.set(plane, [])
        seen.get(plane).push([row, column, run])
        k += run
        count += run
      }
    }
    const total = source.elements / size
    const shown = seen.size ? [...seen.keys()].slice(0, MOST_PLANES) : [0]
    const cell = Math.min(12, Math.max(1, Math.floor(168 / Math.max(rows, columns))), 168 / Math.min(rows, columns))
    const W = Math.min(columns * cell, 224), H = Math.min(rows * cell, 224)
    const name = source.of ? `${source.name}, of ${source.of}` : source.name
    return h('figure', {}, h('figcaption', {}, h('b', {}, name), ` ${source.dims.join(' × ') || 'one number'}: ${count.toLocaleString('en')} of ${source.elements.toLocaleString('en')} seen`),
      h('div', { class: 'planes' }, shown.map(plane => planeOf(source, plane, seen.get(plane) ?? [], rows, columns, W, H))),
      total > shown.length ? h('figcaption', {}, `${shown.length === 1 ? `plane ${shown[0]}` : `planes ${shown.join(', ')}`} of ${total.toLocaleString('en')}${seen.size > shown.length ? `; ${seen.size - shown.length} more are seen` : ''}`) : null)
  }

  function planeOf(source, plane, pieces, rows, columns, W, H) {
    const dx = W / columns, dy = H / rows
    const seen = pieces.map(([row, column, run]) => rect(column * dx, row * dy, Math.max(run * dx, 1.5), Math.max(dy, 1.5), 'seen'))
    const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, width: W, height: H, 'aria-hidden': 'true' }, ...seen)
    return h('div', { class: 'plane', style: `width: ${W}px; height: ${H}px` }, shades(source, plane, rows, columns, W, H), svg)
  }

  /** The values of a plane in grey, where they are known; otherwise its cells. */
  function shades(source, plane, rows, columns, W, H) {
    const canvas = h('canvas', { width: W, height: H, 'aria-hidden': 'true' })
    const on = canvas.getContext('2d')
    const values = source.shades?.[plane]
    if (!values) return canvas
    const down = Math.ceil(rows / 64), right = Math.ceil(columns / 64)
    const across = Math.ceil(columns / right)
    values.forEach((value, k) => {
      on.fillStyle = `rgba(110, 118, 128, ${(value / 255 * .85).toFixed(2)})`
      on.fillRect(k % across * right * W / columns, Math.floor(k / across) * down * H / rows, right * W / columns, down * H / rows)
    })
    return canvas
  }

  draw()
  model.on('view', draw)
}
