/** Kernels as boxes in regions; the browser asks, Python answers with a new view or a reason. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const map = h('div', { class: 'map', role: 'img', 'aria-label': 'Which kernel feeds which' })
  const chain = h('div', { class: 'chain', role: 'group', 'aria-label': 'Kernels and fusion boundaries' })
  const status = statusLine(true, text => model.send_msg({ kind: 'way', text }))
  const keys = h('div', { class: 'keys' })
  el.append(map, chain, keys, status)
  lights(el)
  let focus = null  // the gap to focus once the answer is drawn
  let from = null   // the gap that had it when it was asked for
  let asked = null  // what was drawn when it was asked for
  let before = null
  let told = null   // whether the bench knows of the overview
  let places = ''   // the kernels and boundaries that are drawn
  let metric = 'cycles'  // what prices are in
  let late = false  // whether there is more to draw once the boundary in hand is let go

  const ask = (kind, gap, to) => {
    focus = kind === 'move' ? to : gap
    asked = model.drawn
    before = from = gap
    model.send_msg(to === undefined ? { kind, gap } : { kind, gap, to })
  }

  const look = number => `--c:var(--r${number % 8 + 1});--f:var(--r${number % 8 + 1}-f)`

  /** Whether a boundary is in hand, and what there is to draw leaves it where it is: then it waits. */
  function waits(now) {
    if (now !== places || !chain.querySelector('.bar:active')) return false
    const ends = [...UP, 'keyup']  // a bar is active under a key, too
    const drop = () => {
      for (const type of ends) window.removeEventListener(type, drop)
      setTimeout(() => { late = false; draw() })  // after the drag has ended
    }
    if (!late) for (const type of ends) window.addEventListener(type, drop)
    return late = true
  }

  function draw() {
    if (!there(model)) return
    let { units, regions, shown, keys: told } = model.view
    const now = units.map(unit => `${unit.name} ${unit.region}`).join()
    if (waits(now)) return
    places = now
    const left = chain.scrollLeft
    const active = chain.getRootNode().activeElement
    const held = active && chain.contains(active) ? active.dataset.gap : null  // drawn for another reason
    const kernel = active && chain.contains(active) ? active.dataset.kernel : null
    chain.replaceChildren()
    regions.forEach((region, number) => {
      const mine = units.map((unit, k) => [unit, k]).filter(([unit]) => unit.region === number)
      if (number && mine.length) chain.append(bar(mine[0][1], units))
      chain.append(group(region, number, mine, shown, units))
    })
    chain.scrollLeft = left
    if (units.some(u => u.path)) told = [{ sign: '', kind: 'spent', text: 'cycles on the critical path' }, ...told]
    const factors = Object.keys(model.factors).length ? [{ sign: 'n×', kind: 'factor', text: 'computed that many times over' }] : []
    keys.replaceChildren(currency, ...[...told, ...factors].map(k => h('span', { 'data-help': { factor: 'recompute.factor', spent: 'path.cycles' }[k.kind] ?? null }, h('b', { class: k.kind }, k.sign), ` ${k.text}`)))
    priced()
    overview()
    chosen()
    const answered = model.drawn !== asked
    const waited = held === null ? unfocused() : +held === from  // who went on meanwhile stays there
    const gap = answered && waited ? focus ?? held : held
    if (kernel) chain.querySelector(`[data-kernel="${kernel}"]`)?.focus()
    else if (gap !== null && gap !== undefined) chain.querySelector(`button[data-gap="${gap}"]`)?.focus()
    if (answered) focus = null
  }

  function group(region, number, mine, shown, units) {
    const boxes = h('div', { class: 'boxes' })
    mine.forEach(([unit, k], place) => {
      if (place && !units[k - 1].memory && !unit.memory) boxes.append(seam(k, units))
      boxes.append(unit.memory ? fence(unit, k) : box(unit, k))
    })
    const caption = h('button', {
      class: 'caption', 'data-region': number, 'aria-pressed': String(number === shown), title: region.hint,
      on: { click: () => model.send_msg({ kind: 'show', region: number }) },
    },
    h('span', { class: 'number' }, String(number + 1)), h('span', { class: `pattern p${number % 6}`, 'aria-hidden': 'true' }), h('b', { class: 'title' }, region.name),
    h('span', { class: 'figure', 'data-help': 'cycles.estimated' }, `est. ${region.estimate}`),
    region.simulated && h('span', { class: 'figure sim', 'data-help': 'cycles.simulated' }, `sim. ${region.simulated}`),
    region.against && h('span', { class: `figure ${region.slower ? 'down' : 'up'}`, 'data-help': 'cycles.against' }, region.against),
    h('span', { class: 'share', 'aria-hidden': 'true', 'data-help': 'share.region', title: 'Share of all cycles' }, h('i', { style: `width:${(100 * region.share).toFixed(1)}%` })))
    return h('section', {
      class: 'region' + (number === shown ? ' shown' : ''), style: `${look(number)};--n:${mine.length};flex-grow:${mine.length}`,
      'aria-label': `Region ${number + 1}: ${region.name}, estimated ${region.estimate}`,
    }, caption, boxes)
  }

  function box(unit, k) {
    const again = unit.tensors.filter(t => model.factors[t]).map(t => [t, ...model.factors[t]])
    const most = again.reduce((a, b) => a && parseFloat(a[1]) >= parseFloat(b[1]) ? a : b, null)
    const words = again.map(([t, factor, made]) => `${t} is computed ${factor}: ${made}`)
    return h('div', {
      class: 'kernel', role: 'button', tabindex: 0, 'data-kernel': k, 'data-statement': unit.tensors.join(' '), 'aria-label': `Kernel ${unit.name}`, title: [...unit.texts, ...words, 'Click: what it takes'].join('\n'),
      on: { click: () => choose(k), keydown: event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); choose(k) } } },
    },
      h('span', { class: 'name' }, h('b', {}, unit.name), most && h('span', { class: 'factor', 'data-help': 'recompute.factor', title: words.join('\n') }, most[1])),
      h('code', {}, unit.texts[0], unit.texts.length > 1 && h('span', { class: 'more' }, ` +${unit.texts.length - 1}`)),
      unit.path && h('span', { class: 'path', 'data-help': 'path.cycles', title: 'Cycles of the critical path' },
        h('span', { class: 'meter', 'aria-hidden': 'true' }, h('i', { style: `width:${(100 * unit.path.share).toFixed(1)}%` })), unit.path.cycles))
  }

  const choose = k => model.send_msg({ kind: 'kernel', number: k })

  /** Mark the kernels of what is selected anywhere, and bring the first into sight. */
  function chosen() {
    const boxes = [...chain.querySelectorAll('.kernel[data-statement]')]
    const mine = boxes.filter(node => node.dataset.statement.split(' ').some(name => model.chosen.includes(name)))
    for (const node of boxes) node.setAttribute('aria-pressed', String(mine.includes(node)))
    const [first] = mine, r = first?.getBoundingClientRect(), room = chain.getBoundingClientRect()
    if (first && (r.left < room.left || r.right > room.right)) chain.scrollLeft += r.left - room.left - (room.width - r.width) / 2
  }

  const fence = (unit, k) => h('div', { class: 'kernel memory', 'data-kernel': k, title: `${unit.texts.join('\n')}\nA reshape: memory does it between regions, and nothing fuses across.` }, h('b', {}, unit.name))

  const between = (gap, units) => `between ${units[gap - 1].name} and ${units[gap].name}`

  function seam(gap, units) {
    const theirs = units[gap].pinned
    return h('div', { class: 'gap' + (theirs ? ' theirs' : ''), 'data-gap': gap }, h('button', {
      class: 'seam', 'data-gap': gap, title: `Cut the region here${theirs ? ', as run A does' : ''}`,
      'aria-label': `Fused ${between(gap, units)}${theirs ? ', where run A cuts' : ''}. Enter cuts here.`,
      on: { click: () => ask('add', gap) },
    }, h('span', { 'aria-hidden': 'true' }, theirs ? 'A' : '→')), tag(0, gap))
  }

  function bar(gap, units) {
    const fixed = units[gap].memory || units[gap - 1].memory
    if (fixed) return h('div', { class: 'gap cut fixed', 'data-gap': gap, title: 'Nothing fuses across a reshape' })
    const button = h('button', {
      class: 'bar', 'data-gap': gap, title: 'Drag moves the boundary · Enter or Delete fuses both sides · ← → move',
      'aria-label': `Boundary ${between(gap, units)}. Arrow keys move it, Enter or Delete removes it.`,
      on: {
        click: () => { if (!button.dragged) ask('remove', gap) },
        keydown: event => {
          const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
          if (step) ask('move', gap, gap + step)
          else if (event.key === 'Delete' || event.key === 'Backspace') ask('remove', gap)
          else return
          event.preventDefault()
        },
      },
    }, h('span', { 'aria-hidden': 'true' }, '⋮'))
    let target = null
    let gaps = []
    let reach = [0, 0]  // the boundaries on either side, which it cannot pass
    const preview = h('div', { class: 'preview', role: 'status' })
    const tell = x => {
      for (const g of gaps) {
        g.classList.toggle('target', g === target)
        g.classList.toggle('illegal', barred(gap, +g.dataset.gap, reach))
      }
      preview.replaceChildren(...previewed(gap, +target.dataset.gap, reach, units))
      preview.style.left = `${Math.max(0, Math.min(x - 90, innerWidth - preview.offsetWidth))}px`
      preview.style.top = `${chain.getBoundingClientRect().bottom + 4}px`
    }
    draggable(button, {
      start: () => {
        reach = reachOf(gap)
        gaps = [...chain.querySelectorAll('.gap:not(.fixed)')]
        chain.classList.add('dragging')
        el.append(preview)
      },
      move: (event, dx) => {
        button.style.transform = `translateX(${dx}px)`
        target = nearest(gaps, event.clientX, g => { const r = g.getBoundingClientRect(); return (r.left + r.right) / 2 })
        tellAgain = () => tell(event.clientX)
        tellAgain()
      },
      end: dropped => {
        button.style.transform = ''
        tellAgain = null
        preview.remove()
        chain.classList.remove('dragging')
        gaps.forEach(g => g.classList.remove('target', 'illegal'))
        if (dropped && target && +target.dataset.gap !== gap) ask('move', gap, +target.dataset.gap)
      },
    })
    return h('div', { class: 'gap cut', 'data-gap': gap }, button, tag(gap, 0))
  }

  // Prices: what each move of a boundary is estimated to change, before it is made
  let moves = new Map()
  let tellAgain = null  // while a boundary is dragged: shows what is known now of where it is
  const known = (gap, to) => moves.get(`${gap},${to}`)
  const metrics = { cycles: 'cycles', bytes: 'bytes moved', on_chip: 'bytes on chip' }
  const currency = h('label', { class: 'currency', 'data-help': 'cycles.change' }, 'Moving a boundary changes ',
    h('select', { 'aria-label': 'Prices of boundaries in', on: { change: event => { metric = event.target.value; priced() } } },
      ...Object.entries(metrics).map(([value, name]) => h('option', { value }, name))))

  const tag = (gap, to) => h('span', { class: 'price', 'data-from': gap, 'data-to': to }, h('i', { 'aria-hidden': 'true' }), h('span', {}))

  const sentence = price => price.refused || [`${price.total} (${price.change})`, price.split, price.more, price.against, price.told].filter(Boolean).join('; ')

  function priced() {
    chain.dataset.priced = String(!!model.prices.whole)
    moves = new Map((model.prices.moves ?? []).map(([gap, to, price]) => [`${gap},${to}`, price]))
    for (const shown of chain.querySelectorAll('.price')) {
      const [gap, to] = [+shown.dataset.from, +shown.dataset.to]
      const price = known(gap, to)
      const [text, power] = price?.[metric] ?? ['', null]
      const worth = !price ? 'unknown' : price.refused ? 'refused' : power === null ? 'unknown' : power > 0 ? 'down' : power < 0 ? 'up' : 'same'
      shown.className = `price ${worth}`
      shown.dataset.help = { cycles: 'cycles.change' }[metric] ?? metric
      shown.lastChild.textContent = { unknown: price ? '' : '…', refused: '✕' }[worth] ?? text
      shown.firstChild.style.setProperty('--w', `${Math.min(Math.abs(power ?? 0) / 2, 1) * 50}%`)
      const button = shown.previousSibling
      button.dataset.words ??= button.title
      button.title = price ? `${button.dataset.words}\n${gap ? 'Fused' : 'Cut'}: ${sentence(price)}` : button.dataset.words
      button.ariaDescription = price ? sentence(price) : ''
    }
    tellAgain?.()
  }

  function reachOf(gap) {
    const cuts = [...chain.querySelectorAll('.gap.cut')].map(g => +g.dataset.gap)
    return [Math.max(0, ...cuts.filter(g => g < gap)), Math.min(Infinity, ...cuts.filter(g => g > gap))]
  }

  /** Whether another boundary stands on the way, or the engine refuses what would come. */
  const barred = (gap, to, [left, right]) => to !== gap && (to <= left || to >= right || !!known(gap, to)?.refused)

  function previewed(gap, to, reach, units) {
    const where = h('b', {}, to === gap ? 'As it is' : between(to, units).replace(/^./, x => x.toUpperCase()))
    if (to === gap) return [where]
    const price = known(gap, to)
    if (barred(gap, to, reach)) return [where, h('span', { class: 'down' }, price?.refused ?? 'Another boundary stands between')]
    if (!price) return [where, h('span', {}, model.prices.whole ? 'Not estimated: there are too many moves' : 'Not known yet')]
    const kind = price.cycles[1] > 0 ? 'down' : price.cycles[1] < 0 ? 'up' : ''
    return [where, h('span', {}, price.total, ' ', h('b', { class: kind }, price.change)),
      ...[price.split, price.more, price.against, price.told].filter(Boolean).map(text => h('span', {}, text))]
  }

  // Overview: which kernel feeds which, all at once; where the program branches, or is too long to be seen

  function overview() {
    if (!chain.clientWidth) return  // out of sight; what shows it again changes its size
    const { units, links } = model.view
    const columns = Math.max(...units.map(u => u.place[0])) + 1
    const rows = Math.max(...units.map(u => u.place[1] + u.parts.length))
    const wide = chain.scrollWidth > chain.clientWidth + 4
    map.hidden = rows < 2 && !wide
    if (told !== map.hidden) el.dispatchEvent(new CustomEvent('fuseloom:overview', { bubbles: true, composed: true, detail: !map.hidden }))
    told = map.hidden
    if (map.hidden) return
    const W = Math.max(el.clientWidth - 2, 300), step = W / columns, pitch = Math.min(22, 60 / rows)
    const inside = (room, gap) => room - Math.min(gap, room / 3)  // of hundreds there is little room for each
    const w = Math.min(inside(step, 5), 70), high = inside(pitch, 2)
    const tall = {}  // rows of each column
    for (const u of units) tall[u.place[0]] = Math.max(tall[u.place[0]] ?? 0, u.place[1] + u.parts.length)
    const x = u => u.place[0] * step + step / 2
    const y = (u, part) => 32 + (u.place[1] + part - (tall[u.place[0]] - 1) / 2) * pitch
    const svg = shape('svg', { viewBox: `0 0 ${W} 64`, width: W, height: 64 })
    const line = (a, pa, b, pb) => {
      const [x1, y1, x2, y2] = [x(a) + w / 2, y(a, pa), x(b) - w / 2, y(b, pb)]
      const over = b.place[0] - a.place[0] > 1 && Math.abs(y1 - y2) < 2  // past what stands between
      svg.append(shape('path', { class: 'link', d: over ? `M${x1} ${y1}Q${(x1 + x2) / 2} ${y1 - 52} ${x2} ${y2}` : `M${x1} ${y1}L${x2} ${y2}` }))
    }
    for (const [from, to] of links) {
      const [a, b] = [units[from], units[to]]
      if (a.parts.length === b.parts.length) a.parts.forEach((_, k) => line(a, k, b, k))
      else a.parts.forEach((_, k) => b.parts.forEach((_, n) => line(a, k, b, n)))
    }
    units.forEach((unit, k) => unit.parts.forEach((part, n) => {
      const [cx, cy] = [x(unit), y(unit, n)]
      const node = shape('g', { class: unit.memory ? 'dot memory' : 'dot', style: look(unit.region), 'data-dot': k })
      const name = unit.parts.length > 1 ? part : unit.name
      const letters = Math.floor(w / 5.6)
      const text = shape('text', { x: cx, y: cy + 3.2, 'text-anchor': 'middle' })
      text.textContent = letters < 2 || high < 9 ? '' : name.length > letters ? name.slice(0, letters - 1) + '…' : name
      const title = shape('title', {})
      title.textContent = `${unit.name}: ${unit.texts.join('; ')}`
      node.append(shape('rect', { x: cx - w / 2, y: cy - high / 2, width: w, height: high, rx: 3 }), text, title)
      node.addEventListener('click', () => {
        chain.querySelector(`[data-kernel="${k}"]`)?.scrollIntoView({ block: 'nearest', inline: 'center' })
        model.send_msg({ kind: 'show', region: unit.region })
      })
      svg.append(node)
    }))
    const share = chain.scrollWidth / W
    const seen = shape('rect', { class: 'seen', x: chain.scrollLeft / share, y: 1, width: Math.min(W, chain.clientWidth / share) - 1, height: 62, rx: 4 })
    if (wide) svg.append(seen)
    chain.onscroll = () => seen.setAttribute('x', chain.scrollLeft / share)
    map.replaceChildren(svg)
  }

  function answer() {
    status.show(model.status)
    if (model.status.ok === false && before !== null) chain.querySelector(`button[data-gap="${before}"]`)?.focus()
    before = null
  }

  model.on('view', draw)
  model.on('factors', draw)
  model.on('prices', priced)
  model.on('chosen', chosen)
  model.on('status', answer)
  new ResizeObserver(() => { if (there(model)) overview() }).observe(chain)
  draw()
  status.show(model.status)
}
