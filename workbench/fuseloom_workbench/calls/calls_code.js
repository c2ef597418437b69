/** The pipeline and the code that is made of it, side by side; a line lights the lines of its node. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const both = h('div', { class: 'both' })
  const language = h('select', { 'aria-label': 'Language', on: { change: () => draw() } }, h('option', { value: 'python' }, 'Python'), h('option', { value: 'cpp' }, 'C++'))
  el.append(h('div', { class: 'head' }, h('b', {}, 'Pipeline and code'), h('span', { class: 'quiet' }, 'point at a line to see what it is made of'), h('label', { class: 'field' }, 'code in ', language)), both)

  function light(node) {
    for (const line of both.querySelectorAll('.line')) line.classList.toggle('lit', node !== null && line.dataset.node === node)
  }

  both.addEventListener('pointerover', event => light(event.target.closest('.line')?.dataset.node ?? null))
  both.addEventListener('pointerleave', () => light(null))

  function column(title, lines) {
    return h('figure', {}, h('figcaption', {}, title), h('pre', { class: 'code', tabindex: 0, 'aria-label': title }, lines.map(line => h('code', { class: 'line', 'data-node': line.node === null ? null : String(line.node) }, line.text || ' '))))
  }

  function draw() {
    const v = model.view
    both.replaceChildren(...(v.pipeline ? [column('pipeline', v.pipeline), column(language.selectedOptions[0].text, v[language.value])] : []))
  }

  draw()
  model.on('view', draw)
}
