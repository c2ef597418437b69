/** Shared memory of a kernel: a rectangle for each buffer over the phases in which it is held, and the limit, which is moved. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const count = n => n.toLocaleString('en')
  const change = changes => model.send_msg({ kind: 'change', changes })
  const slider = h('input', { type: 'range', min: 8, max: 16, step: .25, 'aria-label': 'Limit of shared memory, powers of two of bytes', on: { input: () => move(ofPower(slider.value)), change: () => put(ofPower(slider.value)) } })
  const field = h('input', { type: 'text', inputmode: 'numeric', size: 7, 'aria-label': 'Limit of shared memory in bytes', on: { input: () => { typed = true }, change: () => { typed = false; const n = Number(field.value.replaceAll(',', '')); put(Number.isInteger(n) && field.value.trim() ? n : field.value) }, blur: () => { typed = false } } })
  const sharing = h('select', { 'aria-label': 'Sharing of space', on: { change: () => change({ sharing: sharing.value }) } }, ...Object.entries({ none: 'none', dominance: 'by dominance, as in the paper', liveness: 'by liveness' }).map(([value, text]) => h('option', { value }, text)))
  const said = h('p', { class: 'quiet', role: 'status' })
  const wrong = statusLine()
  const map = h('div', { class: 'map' })
  const given = h('div', { class: 'given' })
  const key = (kind, text) => h('span', {}, h('span', { class: `swatch ${kind}` }), text)
  el.append(h('div', { class: 'head' }, h('b', {}, 'Shared memory of a block'), h('span', { class: 'legend' }, key('alloc', 'ALLOC: space of its own'), key('share', 'SHARE: where another lay'), key('lost', 'given up: computed where it is read'))),
    h('div', { class: 'line' }, h('div', { class: 'field' }, h('span', {}, 'limit, bytes'), h('span', { class: 'power' }, slider, field)), h('label', { class: 'field' }, h('span', {}, 'sharing'), sharing)), wrong, said, map, given)
  let limit = 0  // as the line is drawn now
  let moved = false
  let typed = false  // what is being typed stays when an answer comes late
  let width = 0

  const ofPower = power => Math.round(2 ** Number(power))
  const clamped = n => Math.max(model.view.least, Math.min(model.view.most, Math.round(n)))

  function put(value) {
    moved = false
    if (value === model.view.limit) draw()
    else change({ shared_memory: value })
  }

  /** Draw another limit, before it is used. */
  function move(value) {
    limit = clamped(value)
    moved = true
    field.value = String(limit)
    slider.value = Math.log2(limit)
    paint()
  }

  function draw() {
    const v = model.view
    if (v.limit === undefined) return
    if (!moved) {
      limit = v.limit
      if (!typed) field.value = String(v.limit)
      slider.value = Math.log2(v.limit)
    }
    sharing.value = v.sharing
    paint()
  }

  function paint() {
    const v = model.view
    if (!v.phases) return
    said.textContent = v.reason ? `${v.kernel}: ${v.reason}.`
      : `${v.kernel}: ${count(v.phases.length)} phase${v.phases.length > 1 ? 's' : ''} with barriers between them, ${bytes(v.size)} of shared memory${v.shared ? `; buffers of ${bytes(v.shared)} lie where others lay` : ''}.`
    const had = map.getRootNode().activeElement?.matches('.limit')
    map.replaceChildren(chart(v))
    if (had) map.querySelector('.limit').focus()
    given.replaceChildren(...(v.given_up.length ? [h('span', { class: 'quiet' }, 'given up, so computed where they are read:'), ...v.given_up.map(one => h('span', { class: 'one', title: one.need }, `${one.name} (${bytes(one.bytes)})`))] : []))
  }

  function chart(v) {
    const left = 62, right = 14, top = 20, bottom = 40
    const W = Math.max(width || 480, left + right + v.phases.length * 26), H = 280
    const used = Math.max(v.size, 1)
    const high = Math.max(used * 1.3, Math.min(limit * 1.08, used * 3), 64)
    const x = place => left + place * (W - left - right) / Math.max(v.phases.length, 1)
    const y = scale([0, high], false, H - bottom, top, 6)
    const step = 2 ** Math.ceil(Math.log2(high / 7))
    const ticks = Array.from({ length: Math.floor(high / step) + 1 }, (_, k) => k * step)
    const svg = shape('svg', { viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: 'group', 'aria-label': `Buffers over phases. ${v.buffers.map(b => `${b.name}: ${count(b.bytes)} bytes, phases ${b.first + 1} to ${b.last + 1}${b.shares ? `, where ${b.shares} lay` : ''}`).join('; ') || 'No buffers.'}` })
    const lit = v.lit?.[model.selected?.operation] ?? []
    v.phases.forEach((name, n) => { if (lit.includes(name)) svg.append(shape('rect', { class: 'lit-phase', x: x(n), y: top, width: x(n + 1) - x(n), height: H - bottom - top })) })
    for (const tick of ticks) svg.append(shape('line', { class: 'grid', x1: left, x2: W - right, y1: y(tick), y2: y(tick) }), shape('text', { class: 'tick', x: left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, bytes(tick)))
    const room = (W - left - right) / Math.max(v.phases.length, 1)
    v.phases.forEach((name, n) => {
      const fits = Math.floor((room - 6) / 6.2)
      const text = fits < 5 ? String(n + 1) : ending(name, fits)
      svg.append(shape('text', { class: 'tick', x: x(n) + room / 2, y: H - bottom + 14, 'text-anchor': 'middle' }, shape('title', {}, `phase ${n + 1}: ${name}`), text))
      if (n) svg.append(shape('line', { class: 'grid', x1: x(n), x2: x(n), y1: top, y2: H - bottom }))
    })
    svg.append(shape('line', { class: 'axis', x1: left, x2: W - right, y1: H - bottom, y2: H - bottom }), shape('text', { class: 'tick', x: (left + W - right) / 2, y: H - 6, 'text-anchor': 'middle' }, 'phases, one after another, named by what they compute'))
    const inPlace = new Map()  // where one that is computed in place of another cuts it
    for (const b of v.buffers) if (b.shares && v.buffers.some(a => a.name === b.shares && a.last === b.first)) { inPlace.set(b.shares, 'end'); inPlace.set(`${b.name} begins`, true) }
    for (const b of v.buffers) {
      const from = x(b.first + (inPlace.has(`${b.name} begins`) ? .5 : 0)) + 1, to = x(b.last + (inPlace.has(b.name) ? .5 : 1)) - 1
      const high_ = Math.max(3, y(b.at) - y(b.at + b.bytes) - 1), low = y(b.at) - high_
      const fits = Math.floor((to - from - 8) / 6.4)
      svg.append(shape('g', { class: `buffer${b.shares ? ' share' : ''}${lit.includes(b.name) ? ' lit' : ''}` },
        shape('title', {}, `${b.name}: ${count(b.bytes)} bytes (${b.need}); ${b.shares ? `SHARE, where ${b.shares} lay` : 'ALLOC'}; held in phases ${b.first + 1} to ${b.last + 1}`),
        shape('rect', { x: from, y: low, width: Math.max(2, to - from), height: high_, rx: 2 }),
        high_ > 14 && fits > 3 ? shape('text', { x: from + 5, y: low + 12 }, ending(b.name, fits)) : null,
        high_ > 28 && fits > 8 ? shape('text', { class: 'small', x: from + 5, y: low + 25 }, b.shares ? `SHARE ${ending(b.shares, fits - 6)}` : 'ALLOC') : null,
        high_ > 42 && fits > 8 ? shape('text', { class: 'small', x: from + 5, y: low + 38 }, bytes(b.bytes)) : null))
    }
    svg.append(line(v, W, left, right, top, y))
    return svg
  }

  /** The limit; above what is drawn it lies at the top. */
  function line(v, W, left, right, top, y) {
    const above = limit > y.high
    const at = above ? top - 6 : y(limit)
    const node = shape('g', { class: 'limit', tabindex: 0, role: 'slider', 'aria-label': 'Limit of shared memory', 'aria-orientation': 'vertical', 'aria-valuemin': v.least, 'aria-valuemax': v.most, 'aria-valuenow': limit, 'aria-valuetext': `${count(limit)} bytes` },
      shape('rect', { x: left, y: at - 9, width: W - left - right, height: 18 }), shape('line', { x1: left, x2: W - right, y1: at, y2: at, 'stroke-dasharray': above ? '2 4' : null }),
      shape('text', { x: W - right - 4, y: above ? at + 13 : at - 4, 'text-anchor': 'end' }, `limit ${bytes(limit)}${above ? ' ↑ above what is drawn' : ''}`))
    node.addEventListener('keydown', event => {
      const step = { ArrowUp: .25, ArrowRight: .25, ArrowDown: -.25, ArrowLeft: -.25, PageUp: 1, PageDown: -1 }[event.key]
      const to = step ? limit * 2 ** step : { Home: v.least, End: v.most }[event.key]
      if (to === undefined) return
      event.preventDefault()
      put(clamped(to))
    })
    node.addEventListener('pointerdown', down => {
      if (down.button !== 0) return
      down.preventDefault()
      const from = above ? y.high : limit
      const perPixel = (y.high - y.low) / Math.abs(y(y.high) - y(y.low))
      const on = event => move(from + (down.clientY - event.clientY) * perPixel)
      const off = event => {
        window.removeEventListener('pointermove', on)
        window.removeEventListener('pointerup', off)
        window.removeEventListener('pointercancel', off)
        if (event.type === 'pointerup' && moved) put(limit)
        else { moved = false; draw() }
      }
      window.addEventListener('pointermove', on)
      window.addEventListener('pointerup', off)
      window.addEventListener('pointercancel', off)
    })
    return node
  }

  new ResizeObserver(() => {
    if (Math.abs(map.clientWidth - width) < 3) return
    width = map.clientWidth
    paint()
  }).observe(map)
  draw()
  model.on('view', draw)
  model.on('selected', paint)
  const tell = () => {
    const told = model.status?.ok === false && model.status.message.startsWith('shared memory is')
    wrong.hidden = !told
    wrong.show(told ? model.status : null)
  }
  tell()
  model.on('status', tell)
}
