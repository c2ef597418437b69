/** The answer to why, buttons for changes, and whether the change made last kept its promise. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const told = h('div', { class: 'told', role: 'status', 'aria-live': 'polite' })
  const keys = h('div', { class: 'keys' })
  el.append(h('div', { class: 'bar' }, told, keys))

  const promised = s => h('b', { 'data-help': s.applies ? 'promise.estimated' : 'promise.bound' }, s.promise)
  const key = s => s.applies
    ? h('button', { class: 'button change', 'data-apply': s.text, title: `${s.text}: ${s.sentence}. Undo goes back.`, on: { click: () => model.send_msg({ kind: 'apply', text: s.text }) } }, h('span', {}, s.text), promised(s))
    : h('span', { class: 'change only', title: `${s.text}: ${s.sentence}. For information: no schedule does this.` }, h('span', {}, s.text), promised(s))

  function promise(p) {
    if (!p) return ''
    const text = !p.verdict ? `promised ${p.text}` : p.held ? `✓ promise ${p.verdict} (${p.text})` : `✕ promise ${p.verdict} (${p.text})`
    return h('span', { class: !p.verdict ? 'badge' : p.held ? 'badge good' : 'badge old', title: p.sentence, 'data-help': 'promise.estimated', 'data-promise': p.verdict || 'open' }, text)
  }

  /** What can be done about wrong numbers. */
  function remedy(wrong) {
    const way = (action, text, title, click) => [h('button', { class: 'button change', 'data-action': action, title, on: { click } }, text)]
    if (wrong === 'machine') return way('plain', 'Use machine default', 'The same design on a machine that copies no faults', () => model.send_msg({ kind: 'plain' }))
    if (wrong === 'report' && 'flSaves' in document.documentElement.dataset) return way('report', 'Save for a report', 'The session as a file: it holds all that is needed to repeat the run', () => window.dispatchEvent(new Event('fuseloom:save')))
    return []
  }

  function draw() {
    if (!there(model)) return
    const v = model.view
    const focus = el.getRootNode().activeElement
    const held = focus && focus.dataset && focus.dataset.apply
    const a = v.answer
    told.className = v.wrong ? 'told wrong' : a && (a.cause === 'recomputed' || a.cause === 'memory' || a.cause === 'room') ? 'told cause' : 'told'
    told.replaceChildren(h('p', { 'data-help': a ? 'cause' : null, title: a ? `${a.head} ${a.rest}` : '' }, promise(v.promise), a ? h('b', {}, a.head) : h('span', { class: 'quiet' }, 'Looking for the cause.'), ' ', a ? a.rest : ''))
    keys.replaceChildren(...remedy(v.wrong), ...v.buttons.map(key))
    if (held) [...keys.children].find(k => k.dataset.apply === held)?.focus()
  }

  model.on('view', draw)
  draw()
}
