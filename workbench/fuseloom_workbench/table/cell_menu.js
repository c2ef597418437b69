/** The menu of a table's cell: `show` draws what Python offers there, beside the cell. */
function cellMenu(model, host, cellOf) {
  const list = h('div', { class: 'cellmenu', role: 'menu', popover: 'manual' })  // in the top layer: no pane cuts it off
  host.append(list)
  let wanted = null  // the cell whose entries have been asked for, by column and row

  function open(column, row) {
    wanted = [column, row]
    model.send_msg({ kind: 'menu', column, row })
    show()
  }

  function close(back = true) {
    if (!wanted) return
    const cell = wanted && cellOf(wanted.join('.'))
    wanted = null
    list.hidePopover()
    model.send_msg({ kind: 'menu', column: '', row: '' })
    if (back) cell?.focus()
  }

  function show() {
    if (!wanted) return
    const cell = cellOf(wanted.join('.'))
    const { cell: of, entries, name } = model.menu
    if (!cell) return close(false)
    const mine = of && of.join('.') === wanted.join('.')
    list.setAttribute('aria-label', `What can be chosen at ${name ?? wanted.join('.')}`)
    list.replaceChildren(...(!mine ? [h('p', {}, 'Estimating …')] : entries.length ? entries.map(entry) : [h('p', {}, 'Nothing can be chosen at this cell.')]))
    list.showPopover()
    place(cell)
    list.querySelector('[role^=menuitem]:not([aria-disabled=true])')?.focus()
  }

  function entry(e) {
    const closed = e.chosen || e.refused || e.effect === 'changes nothing'
    return h('button', {
      role: 'menuitemradio', 'aria-checked': String(e.chosen), 'aria-disabled': closed ? 'true' : null, 'data-key': e.key, tabindex: -1, title: e.refused || e.says,
      on: { click: () => { if (!closed) choose(e.key) } },
    }, h('b', {}, `${e.chosen ? '✓ ' : ''}${e.text}`), h('span', { 'data-help': e.effect ? 'cycles.change' : null }, e.refused ? 'not possible' : e.chosen ? 'as it is' : e.effect), h('small', {}, e.refused || e.says))
  }

  function choose(key) {
    const [column, row] = wanted
    close()
    model.send_msg({ kind: 'choose', column, row, key })
  }

  function place(cell) {
    const box = cell.getBoundingClientRect()
    const below = window.innerHeight - box.bottom
    const up = below < list.scrollHeight + 12 && box.top > below
    list.style.left = `${Math.max(4, Math.min(box.left, window.innerWidth - list.offsetWidth - 8))}px`
    list.style.top = up ? 'auto' : `${box.bottom + 2}px`
    list.style.bottom = up ? `${window.innerHeight - box.top + 2}px` : 'auto'
    list.style.maxHeight = `${(up ? box.top : below) - 16}px`
  }

  list.addEventListener('keydown', event => {
    const items = [...list.querySelectorAll('[role^=menuitem]')]
    const at = items.indexOf(list.getRootNode().activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
    if (event.key === 'Escape' || event.key === 'Tab') close()
    else if (to !== undefined) items[(to + items.length) % items.length]?.focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  list.addEventListener('focusout', event => { if (event.relatedTarget && !list.contains(event.relatedTarget) && !event.relatedTarget.matches('.whatis')) close(false) })
  host.addEventListener('pointerdown', event => { if (!list.contains(event.target)) close(false) })
  return { open, show, close }
}
