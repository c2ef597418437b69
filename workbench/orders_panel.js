/** Legal dataflow orders as a list to choose from. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const head = h('div', { class: 'head' })
  const list = h('div', { class: 'list', role: 'radiogroup', 'aria-label': 'Dataflow orders' })
  const rules = h('details', {})
  el.append(head, list, rules)
  let focused = null

  function draw() {
    if (!there(model)) return
    const v = model.view
    const plural = v.one ? '' : 's'
    head.replaceChildren(
      h('b', {}, `${v.total} legal order${plural}`), ' of region ', h('span', { class: 'mono' }, v.name),
      h('div', { class: 'quiet' }, !v.ready ? 'estimating…'
        : v.all ? `${v.shown} distinct graph${v.shown === '1' ? '' : 's'}, ranked by estimated cycles`
          : `the first ${v.shown} distinct graphs, ranked by estimated cycles; drag rows to reach others`))
    head.append(...v.repairs.map(text => h('div', { class: 'repair' }, text)))
    const top = list.scrollTop
    list.replaceChildren(...v.entries.map((e, k) => entry(e, k, v)))
    if (v.ready && !v.listed)
      list.prepend(h('div', { class: 'entry chosen other' }, h('span', { class: 'mono' }, v.chosen), h('span', { class: 'quiet' }, 'current, not among those listed')))
    list.scrollTop = top
    if (focused !== null) list.querySelector(`[data-order="${CSS.escape(focused)}"]`)?.focus()
    focused = null
    const open = rules.open
    rules.replaceChildren(h('summary', {}, `${v.rules.length} constraint${v.rules.length === 1 ? '' : 's'} on the order`),
      h('ul', {}, v.rules.map(text => h('li', {}, text))))
    rules.open = open
  }

  function entry(e, k, v) {
    const reachable = e.chosen || (!v.listed && k === 0)
    return h('button', {
      class: 'entry' + (e.chosen ? ' chosen' : ''), role: 'radio', 'aria-checked': String(e.chosen),
      'data-order': e.order.join(','), 'aria-disabled': e.reason ? 'true' : null, title: e.reason || `${e.text} ${e.alike}`,
      tabindex: reachable ? 0 : -1,
      on: {
        click: () => { focused = e.order.join(','); model.send_msg({ kind: 'choose', order: e.order }) },
        keydown: event => {
          const d = { ArrowUp: -1, ArrowDown: 1 }[event.key]
          if (!d) return
          event.preventDefault()
          list.querySelectorAll('button.entry')[k + d]?.focus()
        },
      },
    },
    h('span', { class: 'mark', 'aria-hidden': 'true' }, e.chosen ? '●' : '○'),
    h('span', { class: 'mono text' }, e.text, e.alike && h('span', { class: 'quiet alike' }, e.alike)),
    e.reason ? h('span', { class: 'reason' }, e.reason)
      : h('span', { class: 'figure' }, e.cycles, h('span', { class: 'quiet' }, e.more ? ` ${e.more}` : ' best')))
  }

  model.on('view', draw)
  draw()
}
