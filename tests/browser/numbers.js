// Numbers with a unit on a page: those without help around them, and the quantities of the others.
([units, longest]) => {
  const number = new RegExp(units)
  const lone = /^[\d,.]+$/,
    large = /(^|[^\d,.])\d{1,3}(,\d{3})+(?![\d,])/,
    measured = /cycles|tokens|bytes|FLOPs|factor|values|rows|speed|saves|%/
  /** A number alone in a column whose head says what it counts. */
  function inColumn(node, data) {
    const cell = node.nodeType === 1 && node.closest('td'), table = cell && cell.closest('table')
    if (!table || !/\d/.test(data) || !/^[\s\d,.+−–≥%×-]+$/.test(data)) return false
    const head = table.querySelectorAll('thead tr:last-child > *')[cell.cellIndex]
    return !!head && measured.test(head.textContent)
  }
  const lost = [], found = new Set()
  const seen = node => node.checkVisibility({ visibilityProperty: true }) && node.getClientRects().length > 0
  const above = node => node.parentNode || node.host
  const marked = node => {
    for (let at = node; at; at = above(at)) if (at.dataset && at.dataset.help) return at
    return null
  }
  function walk(node) {
    for (const child of node.childNodes) {
      if (child.nodeType === 3) {
        const before = child.previousSibling || (node.nodeType === 1 && node.firstChild === child && node.previousSibling)
        const text = lone.test(before?.textContent?.trim() || '') ? `${before.textContent} ${child.data}` : child.data
        if (!number.test(text) && !large.test(child.data) && !inColumn(node, child.data)) continue
        const owner = child.parentNode.nodeType === 1 ? child.parentNode : child.parentNode.host
        if (!seen(owner)) continue
        const mark = marked(owner)
        if (mark && mark.textContent.length <= longest) found.add(mark.dataset.help)
        else lost.push(`${owner.tagName.toLowerCase()}.${owner.getAttribute('class') || ''}: ${text.trim().slice(0, 90)}`)
      } else if (child.nodeType === 1 && !['STYLE', 'SCRIPT', 'TEMPLATE', 'TITLE', 'OPTION', 'TEXTAREA'].includes(child.tagName.toUpperCase())) {
        if (child.shadowRoot) walk(child.shadowRoot)
        walk(child)
      }
    }
  }
  walk(document.body)
  return [[...new Set(lost)], [...found]]
}
