/** The term that was given and the one for the array, with what differs marked; the rules that lead from one to the other. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const head = h('div', { class: 'head' })
  const both = h('div', { class: 'both' })
  const walk = h('div', { class: 'walk' })
  const chain = h('ol', { class: 'chain', tabindex: 0, 'aria-label': 'Rules that lead from one term to the other' })
  el.append(head, both, walk, chain)
  const back = h('button', { class: 'button', type: 'button', 'aria-label': 'Step before', on: { click: () => go(at() - 1) } }, '◀')
  const on = h('button', { class: 'button', type: 'button', 'aria-label': 'Next step', on: { click: () => go(at() + 1) } }, '▶')
  const ends = h('button', { class: 'button', type: 'button', on: { click: () => { shown = null; draw() } } }, 'First and last term')
  let shown = null  // the number of the step that is shown; null for both ends
  let asked = null  // the one that was asked for and has not come

  const at = () => asked ?? shown ?? -1

  function go(number) {
    if (number < 0 || number >= model.view.steps.length) return
    asked = number
    model.send_msg({ kind: 'step', number })
    draw()
  }

  const inspect = which => path => model.send_msg({ kind: 'inspect', which, path, start: 0 })

  function column(title, which, term) {
    return h('figure', {}, h('figcaption', {}, title), termLines(term, { label: title, pick: which ? inspect(which) : null }))
  }

  function draw() {
    const v = model.view
    if (!v.before) {
      head.replaceChildren(h('b', {}, 'Before and after'))
      for (const part of [both, walk, chain]) part.replaceChildren()
      return
    }
    if (v.step && v.step.number === asked) [shown, asked] = [asked, null]
    if (!v.step && asked === null) shown = null
    const step = shown !== null && v.step?.number === shown ? v.step : null
    head.replaceChildren(h('b', {}, 'Before and after'), h('span', { class: 'quiet' }, step ? `step ${step.number + 1} of ${v.steps_total}: ${step.rule}${step.forward ? '' : ', backwards'}; the part it changes is marked` : 'parts that only one of them has are marked; choose a line to see its positions'))
    both.replaceChildren(...(step ? [column('before the step', null, step.before), column('after the step', null, step.after)] : [column('given', 'before', v.before), column('for the array', 'after', v.after)]))
    const none = v.before.lines.length && !v.steps.length
    walk.replaceChildren(...(none ? [h('span', { class: 'quiet' }, v.explained ? 'No rule was applied.' : 'No chain of rules was found that leads from one to the other.')]
      : [back, on, ends, h('span', { class: 'quiet' }, `${v.steps_total.toLocaleString('en')} ${v.steps_total === 1 ? 'rule leads' : 'rules lead'} from one to the other`)]))
    back.disabled = at() <= 0
    on.disabled = at() >= v.steps.length - 1
    ends.disabled = shown === null
    const top = chain.scrollTop
    chain.replaceChildren(...v.steps.map((one, n) => h('li', {}, h('button', { type: 'button', class: n === at() ? 'on' : null, 'aria-pressed': String(n === at()), on: { click: () => go(n) } }, one.rule, one.forward ? '' : ' ←'))),
      ...(v.steps_total > v.steps.length ? [h('li', { class: 'quiet' }, `and ${(v.steps_total - v.steps.length).toLocaleString('en')} more`)] : []))
    chain.hidden = !v.steps.length
    chain.scrollTop = top
  }

  draw()
  model.on('view', draw)
}
