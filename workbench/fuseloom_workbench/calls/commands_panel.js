/** The commands of the schedule, in an order that can be dragged; those that could come next, and why others cannot. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const list = h('ol', { class: 'list', 'aria-label': 'Schedule' })
  const input = h('input', { type: 'text', spellcheck: 'false', size: 34, placeholder: 'parallelize 0 · break 2 · split 0 xo xi big small', 'aria-label': 'Add a command', on: { change: () => { if (input.value.trim()) model.send_msg({ kind: 'command', text: input.value }); input.value = '' } } })
  const menu = h('div', { class: 'menu', role: 'group', 'aria-label': 'Commands that could come next' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'Schedule'), h('span', { class: 'quiet' }, 'drag commands to change their order; Alt with arrows does the same by keys')), list, h('div', { class: 'row' }, input), menu)
  const put = commands => model.send_msg({ kind: 'change', changes: { commands } })
  let focus = null

  function moved(from, to) {
    const commands = [...model.view.asked]
    const [one] = commands.splice(from, 1)
    commands.splice(to, 0, one)
    focus = to
    put(commands)
  }

  function draw() {
    const v = model.view
    if (!v.menu) return
    const had = [...list.children].indexOf(list.getRootNode().activeElement)
    list.replaceChildren(...(v.asked.length ? v.asked.map((text, n) => item(text, n, v.asked)) : [h('li', { class: 'quiet none' }, 'Everything is fused, in one loop nest.')]))
    const at = focus ?? (had >= 0 ? had : null)  // what has the focus keeps it
    if (at !== null) list.children[at]?.focus()
    focus = null
    menu.replaceChildren(...v.menu.map(one => h('button', { type: 'button', class: one.reason ? 'command not' : 'command', 'aria-disabled': String(!!one.reason), title: one.reason || null, 'aria-label': one.reason ? `${one.text}: ${one.reason}` : one.text, on: { click: () => { if (!one.reason) model.send_msg({ kind: 'command', text: one.text }) } } }, one.text)))
  }

  function item(text, n, all) {
    const node = h('li', { tabindex: 0, class: 'item', 'aria-label': `Command ${n + 1}: ${text}`, on: { keydown: event => {
      const to = { ArrowUp: n - 1, ArrowDown: n + 1 }[event.key]
      if (event.altKey && to >= 0 && to < all.length) { moved(n, to); event.preventDefault() } else if (event.key === 'Delete') put(all.filter((_, k) => k !== n))
    } } }, h('code', {}, text), h('button', { type: 'button', class: 'remove', 'aria-label': `Remove ${text}`, on: { click: () => put(all.filter((_, k) => k !== n)) } }, '×'))
    draggable(node, {
      start: () => node.classList.add('moving'),
      move: (event, dx, dy) => { node.style.transform = `translateY(${dy}px)` },
      end: done => {
        node.classList.remove('moving')
        const middle = node.getBoundingClientRect().top + node.offsetHeight / 2
        node.style.transform = ''
        if (!done) return
        const to = [...list.children].filter(other => other !== node && other.getBoundingClientRect().top + other.offsetHeight / 2 < middle).length
        if (to !== n) moved(n, to)
      },
    })
    return node
  }

  draw()
  model.on('view', draw)
}
