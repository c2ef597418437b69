/** Kernels as boxes in regions; the browser asks, Python answers with a new view or a reason. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const chain = h('div', { class: 'chain', role: 'group', 'aria-label': 'Kernels and fusion boundaries' })
  const status = statusLine()
  el.append(chain, status)
  let focus = null  // the gap to focus after the next drawing
  let before = null

  const ask = (kind, gap, to) => {
    focus = kind === 'move' ? to : gap
    before = gap
    model.send_msg(to === undefined ? { kind, gap } : { kind, gap, to })
  }

  function draw() {
    if (!there(model)) return
    const { units, regions, shown } = model.view
    const left = chain.scrollLeft
    chain.replaceChildren()
    regions.forEach((region, number) => {
      const mine = units.map((unit, k) => [unit, k]).filter(([unit]) => unit.region === number)
      if (number && mine.length) chain.append(bar(mine[0][1], units))
      chain.append(group(region, number, mine, shown, units))
    })
    chain.scrollLeft = left
    if (focus !== null) chain.querySelector(`button[data-gap="${focus}"]`)?.focus()
    focus = null
  }

  function group(region, number, mine, shown, units) {
    const boxes = h('div', { class: 'boxes' })
    mine.forEach(([unit, k], place) => {
      if (place && !units[k - 1].memory && !unit.memory) boxes.append(seam(k, units))
      boxes.append(h('div', { class: 'kernel' + (unit.memory ? ' memory' : ''), 'data-kernel': k, title: unit.texts.join('\n') },
        h('b', {}, unit.name),
        h('code', {}, unit.texts[0], unit.texts.length > 1 && h('span', { class: 'more' }, ` +${unit.texts.length - 1}`))))
    })
    const caption = h('button', {
      class: 'caption', 'data-region': number, 'aria-pressed': String(number === shown), title: region.hint,
      on: { click: () => model.send_msg({ kind: 'show', region: number }) },
    },
    h('span', { class: 'title' }, h('span', { class: 'number' }, String(number + 1)), region.name),
    h('span', { class: 'figure' }, `est. ${region.estimate}`),
    region.simulated && h('span', { class: 'figure sim' }, `sim. ${region.simulated}`),
    h('span', { class: 'share', 'aria-hidden': 'true' }, h('i', { style: `width:${(100 * region.share).toFixed(1)}%` })))
    return h('section', {
      class: 'region' + (number === shown ? ' shown' : ''), style: `--fill:${region.fill}; --n:${mine.length}; flex-grow:${mine.length}`,
      'aria-label': `Region ${number + 1}: ${region.name}, estimated ${region.estimate}`,
    }, boxes, caption)
  }

  const between = (gap, units) => `between ${units[gap - 1].name} and ${units[gap].name}`

  function seam(gap, units) {
    return h('div', { class: 'gap', 'data-gap': gap }, h('button', {
      class: 'seam', 'data-gap': gap, title: 'Click to cut the region here',
      'aria-label': `Fused ${between(gap, units)}. Enter cuts here.`,
      on: { click: () => ask('add', gap) },
    }, h('span', { 'aria-hidden': 'true' }, '→')))
  }

  function bar(gap, units) {
    const button = h('button', {
      class: 'bar', 'data-gap': gap, title: 'Drag to move the boundary · Enter or Delete fuses · ← → move',
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
    draggable(button, {
      start: () => { gaps = [...chain.querySelectorAll('.gap')]; chain.classList.add('dragging') },
      move: (event, dx) => {
        button.style.transform = `translateX(${dx}px)`
        target = nearest(gaps, event.clientX, g => { const r = g.getBoundingClientRect(); return (r.left + r.right) / 2 })
        gaps.forEach(g => g.classList.toggle('target', g === target))
      },
      end: dropped => {
        button.style.transform = ''
        chain.classList.remove('dragging')
        gaps.forEach(g => g.classList.remove('target'))
        if (dropped && target && +target.dataset.gap !== gap) ask('move', gap, +target.dataset.gap)
      },
    })
    return h('div', { class: 'gap cut', 'data-gap': gap }, button)
  }

  function answer() {
    status.show(model.status)
    if (model.status.ok === false && before !== null) chain.querySelector(`button[data-gap="${before}"]`)?.focus()
    before = null
  }

  model.on('view', draw)
  model.on('status', answer)
  draw()
  status.show(model.status)
}
