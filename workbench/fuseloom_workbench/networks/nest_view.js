/** A loop nest line by line: a bracket for every loop that several contractions share. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const head = h('div', { class: 'head' })
  const nest = h('div', { class: 'nest', tabindex: 0, role: 'group', 'aria-label': 'Loop nest' })
  const held = h('div', { class: 'held' })
  const code = h('pre', { class: 'code mono', tabindex: 0, 'aria-label': 'Generated code' })
  const compile = h('button', { class: 'button', type: 'button', on: { click: () => model.send_msg({ kind: 'code', number: model.view.number }) } }, 'Show the code')
  const copy = h('button', { class: 'button', type: 'button', on: { click: async () => {
    try {
      await navigator.clipboard.writeText(model.view.code || model.view.text)
      copy.textContent = 'Copied'
    } catch { copy.textContent = 'Not allowed' }
    setTimeout(() => { copy.textContent = 'Copy' }, 1200)
  } } }, 'Copy')
  el.append(head, nest, held, h('div', { class: 'does' }, compile, copy), code)

  function draw() {
    const v = model.view
    const none = !there(model)
    for (const part of [nest, held, code, compile, copy]) part.hidden = none
    if (none) {
      head.replaceChildren(h('p', { class: 'quiet' }, 'No nest: nothing satisfies what is asked.'))
      return
    }
    const shared = v.loops.filter(loop => loop.inside.length > 1)
    head.replaceChildren(h('b', {}, `Nest ${v.number + 1}`), h('span', { class: 'badge' }, v.way),
      h('span', { class: 'quiet' }, shared.length ? `loops with a bracket are shared: ${shared.map(l => `${l.index} by ${l.inside.join(', ')}`).join('; ')}` : v.way === 'n-ary' ? 'all in one product' : 'no loop is shared'))
    nest.style.gridTemplateRows = `repeat(${v.lines.length}, 21px)`
    const columns = Math.max(0, ...shared.map(l => l.depth + 1))
    nest.replaceChildren(
      ...shared.map((loop, n) => h('i', { class: 'bracket', style: `grid-row: ${loop.first + 1} / ${loop.last + 2}; margin-left: ${loop.depth * 9}px; --c: var(--r${n % 8 + 1})`, title: `${loop.index}: ${loop.inside.join(', ')}` })),
      ...v.lines.map((line, n) => h('code', { class: line.kind, style: `grid-row: ${n + 1}; padding-left: ${columns * 9 + 8 + line.depth * 16}px` }, line.text, line.note ? h('small', {}, ` ${line.note}`) : null)))
    held.replaceChildren(...(v.held.length ? [h('table', {}, h('thead', {}, h('tr', {}, ...['intermediate', 'keeps', 'dimensions', 'bytes', 'if unfused'].map(t => h('th', {}, t)))),
      h('tbody', {}, v.held.map(w => h('tr', {}, h('td', { class: 'mono' }, `${w.name}(${w.whole.join(',')})`), h('td', { class: 'mono' }, w.indices.join(',') || 'one number'), h('td', {}, String(w.order)), h('td', {}, bytes(w.bytes)), h('td', { class: 'quiet' }, bytes(w.unfused))))))] : [h('p', { class: 'quiet' }, 'It keeps no intermediate.')]))
    code.hidden = !v.code
    compile.hidden = !!v.code
    code.textContent = v.code
  }

  draw()
  model.on('view', draw)
}
