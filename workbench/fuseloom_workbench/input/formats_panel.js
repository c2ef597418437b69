/** Formats of tensors: for each level which mode it stores, and how. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const body = h('tbody')
  let asked = ''   // the tensor of the last request
  let waiting = 0  // requests without an answer
  el.append(h('details', {}, h('summary', {}, h('b', {}, 'Formats of the tensors')),
    h('p', { class: 'quiet' }, 'Levels are stored from left to right. A change is an edit of the program; Undo goes back.'),
    h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, h('tr', {}, ['tensor', 'shape', 'is', 'levels, outermost first', 'as text'].map(t => h('th', { scope: 'col', 'data-help': t === 'shape' ? 'input.size' : null }, t)))), body))))

  function send(t, levels, order) {
    asked = t.name
    waiting += 1
    model.send_msg({ kind: 'format', tensor: t.name, levels, order })
  }

  function level(t, k) {
    const mode = h('select', { 'aria-label': `${t.name}, mode stored at level ${k + 1}`, 'data-mode': `${t.name}.${k}`, on: { change: () => {
      const order = [...t.order], wanted = Number(mode.value), other = order.indexOf(wanted)
      order[other] = order[k]
      order[k] = wanted
      send(t, t.levels, order)
    } } }, t.order.map((_, m) => h('option', { value: m, selected: m === t.order[k] }, `mode ${m + 1}`)))
    const kind = h('select', { 'aria-label': `${t.name}, format of level ${k + 1}`, 'data-level': `${t.name}.${k}`, on: { change: () => send(t, t.levels.map((l, n) => n === k ? kind.value : l), t.order) } },
      model.view.levels.map(l => h('option', { value: l.word, selected: l.word === t.levels[k], title: l.meaning }, l.word)))
    return h('span', { class: 'level' }, t.order.length > 1 ? mode : '', kind)
  }

  function draw() {
    if (!there(model)) return
    const held = el.getRootNode().activeElement
    const focus = held && (held.dataset?.mode ? `[data-mode="${held.dataset.mode}"]` : held.dataset?.level ? `[data-level="${held.dataset.level}"]` : '')
    body.replaceChildren(...model.view.tensors.map(t => h('tr', { 'data-tensor': t.name }, h('th', { scope: 'row' }, t.name), h('td', { 'data-help': 'input.size' }, t.shape), h('td', { class: 'quiet' }, t.role),
      h('td', {}, t.levels.map((_, k) => level(t, k)), h('div', { class: 'error-line', role: 'alert' })), h('td', { class: 'mono' }, t.text))))
    if (focus) body.querySelector(focus)?.focus()
  }

  model.on('view', draw)
  model.on('status', () => {
    waiting = Math.max(0, waiting - 1)
    if (asked && model.status.ok === false) {
      draw()
      const row = body.querySelector(`[data-tensor="${asked}"] .error-line`)
      if (row) row.textContent = `✕ ${model.status.message}`
    }
    if (!waiting || model.status.ok === false) asked = ''
  })
  draw()
}
