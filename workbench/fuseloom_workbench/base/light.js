/**
 * Lights, while the pointer is on what belongs to statements, all that belongs to them, in every view of the page.
 *
 * Elements of `root` name their statements in `data-statement`, and have the class `lit` while one of them is lit; `paint(names)` is
 * called where there are no elements. The function that is returned tells the views of a view that has none: its names, or none.
 */
function lights(root, paint = null) {
  let told = ''
  const tell = names => {
    if (names === told) return
    told = names
    window.dispatchEvent(new CustomEvent('fuseloom:light', { detail: names }))
  }
  root.addEventListener('pointerover', event => { const at = event.target.closest('[data-statement]'); if (at || !paint) tell(at?.dataset.statement ?? '') })
  root.addEventListener('pointerleave', () => tell(''))
  window.addEventListener('fuseloom:light', event => {
    if (!root.isConnected) return
    const names = new Set(event.detail.split(' ').filter(Boolean))
    for (const node of root.querySelectorAll('[data-statement]')) node.classList.toggle('lit', node.dataset.statement.split(' ').some(name => names.has(name)))
    paint?.(names)
  })
  return tell
}
