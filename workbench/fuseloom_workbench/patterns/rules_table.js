/** Rules: on or off, how often each applied and led to the result, a search for counterexamples, the visitor's own. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const change = changes => model.send_msg({ kind: 'change', changes })
  const head = h('div', { class: 'head' })
  const wrap = h('div', { class: 'wrap' })
  const found = h('div', { class: 'found', role: 'status', 'aria-live': 'polite' })
  const area = h('textarea', { spellcheck: 'false', wrap: 'off', rows: 6, 'aria-label': 'Your rules', placeholder: '(rule NAME "what it does" LEFT => RIGHT (let ?x EXPRESSION) (where CONDITION))' })
  const use = h('button', { class: 'button primary', type: 'button', on: { click: () => change({ own: area.value }) } }, 'Use these rules')
  const own = h('details', {}, h('summary', {}, 'Rules of your own'), h('div', { class: 'editor' }, area), h('div', { class: 'row' }, use, h('span', { class: 'quiet' }, 'a fault is told above, with its line; a rule is searched for counterexamples by its “check”')))
  el.append(head, wrap, found, own)
  area.addEventListener('input', () => { use.disabled = area.value === model.view.own })
  area.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); use.click() }
  })
  let base = null

  function draw() {
    const v = model.view
    if (!v.rules) return
    const on = v.rules.filter(rule => rule.on).length
    head.replaceChildren(h('b', {}, 'Rules'), h('span', { class: 'quiet' }, `${on} of ${v.rules.length} on`),
      ...(v.without.length ? [h('button', { class: 'button', type: 'button', on: { click: () => change({ without: [] }) } }, 'All on')] : []))
    const focused = wrap.getRootNode().activeElement?.dataset?.rule
    const kind = wrap.getRootNode().activeElement?.dataset?.does
    const top = wrap.scrollTop
    wrap.replaceChildren(h('table', { 'aria-label': 'Rules' },
      h('thead', {}, h('tr', {}, ...['on', 'rule', 'applied', 'in the result', ''].map(t => h('th', { scope: 'col' }, t)))),
      h('tbody', {}, v.rules.map(rule => rowOf(rule, v)))))
    wrap.scrollTop = top
    if (focused) wrap.querySelector(`[data-rule="${CSS.escape(focused)}"][data-does="${kind}"]`)?.focus({ preventScroll: true })
    if (v.own !== base) {
      if (base === null || area.value === base) area.value = v.own
      base = v.own
      if (v.own) own.open = true
    }
    use.disabled = area.value === v.own
    tell(v.checked)
  }

  function rowOf(rule, v) {
    const off = event => change({ without: event.target.checked ? v.without.filter(name => name !== rule.name) : [...v.without, rule.name] })
    return h('tr', { class: rule.on ? null : 'off' },
      h('td', {}, h('input', { type: 'checkbox', checked: rule.on, 'aria-label': `Use ${rule.name}`, 'data-rule': rule.name, 'data-does': 'on', on: { change: off } })),
      h('th', { scope: 'row' }, h('details', {}, h('summary', {}, h('code', {}, rule.name), ' ', h('span', { class: 'quiet' }, rule.text)), h('pre', { class: 'mono' }, rule.source))),
      h('td', {}, rule.hits === null ? '' : rule.hits.toLocaleString('en')), h('td', {}, rule.used ? rule.used.toLocaleString('en') : ''),
      h('td', {}, h('button', { class: 'button', type: 'button', title: 'Look for a counterexample in 300 random instances', 'aria-label': `Check ${rule.name}`, 'data-rule': rule.name, 'data-does': 'check', disabled: v.busy, on: { click: () => model.send_msg({ kind: 'check', name: rule.name }) } }, 'check')))
  }

  /** What a search for counterexamples found. */
  function tell(checked) {
    if (!checked) { found.replaceChildren(); return }
    found.replaceChildren(h('p', { class: checked.ok ? 'good' : 'wrong' }, `${checked.ok ? '✓' : '✕'} ${checked.text}`),
      ...(checked.left ? [h('div', { class: 'both' }, h('pre', { class: 'mono' }, checked.left), h('pre', { class: 'mono' }, checked.right)),
        h('details', {}, h('summary', {}, 'the data for which they differ'), h('pre', { class: 'mono' }, Object.entries(checked.data).map(([name, array]) => `${name} = ${JSON.stringify(array)}`).join('\n') || 'their shapes differ'))] : []))
  }

  draw()
  model.on('view', draw)
}
