/** A kernel in each language, side by side; the phases of the operation that is selected are lit. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const languages = h('div', { class: 'languages', role: 'group', 'aria-label': 'Languages' })
  const all = h('div', { class: 'all' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'Code'), languages, h('span', { class: 'quiet' }, 'select an operation above to light the phases that compute it')), all)
  const hidden = new Set()
  let key = ''

  /** Per line the phase that it belongs to: that of the last comment that names one, as deep as that or deeper. */
  function phasesOf(lines, phases) {
    let now = null, depth = 0
    return lines.map(text => {
      const at = text.search(/\S/)
      const said = text.match(/^\s*(?:\/\*|\/\/|#)\s*(?:phase\s+\d*:?\s*)?(\S+?)[,:]?\s*(?:\*\/)?$/)?.[1]
      if (phases.has(said)) { now = said; depth = at } else if (now !== null && at >= 0 && at < depth) now = null
      return now
    })
  }

  function column(code, phases) {
    const title = `${code.title}${code.cut ? ', cut off' : ''}`
    const of = phasesOf(code.lines, phases)
    return h('figure', {}, h('figcaption', {}, title), code.reason ? h('p', { class: 'quiet' }, `None: ${code.reason}.`)
      : h('pre', { class: 'code', tabindex: 0, 'aria-label': code.title }, code.lines.map((text, n) => h('code', { class: 'row', 'data-phase': of[n] }, text || ' '))))
  }

  function light() {
    const phases = model.view.lit?.[model.selected?.operation] ?? []
    const boxes = [...all.querySelectorAll('.code')]
    for (const box of boxes) {
      let first = null
      for (const line of box.children) {
        const on = phases.includes(line.dataset.phase)
        line.classList.toggle('lit', on)
        if (on) first ??= line
      }
      if (first && (first.offsetTop < box.scrollTop + box.offsetTop || first.offsetTop > box.scrollTop + box.offsetTop + box.clientHeight - 40)) box.scrollTop = first.offsetTop - box.offsetTop - 20
    }
  }

  function draw() {
    const v = model.view
    if (!v.codes) return
    const now = JSON.stringify([v.codes, [...hidden]])
    if (now !== key) {
      key = now
      const phases = new Set(Object.values(v.lit ?? {}).flat())
      const had = languages.getRootNode().activeElement?.textContent
      languages.replaceChildren(...v.codes.map(code => h('button', { type: 'button', class: 'button language', 'aria-pressed': String(!hidden.has(code.language)), title: 'Show it, or do not', on: { click: () => { if (!hidden.delete(code.language)) hidden.add(code.language); draw() } } }, code.title)))
      ;[...languages.children].find(one => one.textContent === had)?.focus()
      all.replaceChildren(...v.codes.filter(code => !hidden.has(code.language)).map(code => column(code, phases)))
    }
    light()
  }

  draw()
  model.on('view', draw)
  model.on('selected', light)
}
