// Files that a browser saves: the plots as one drawing, a comparison as one page.

function saveAs(text, name, type) {
  const link = h('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

const DRAWN = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-opacity', 'opacity', 'font-size', 'font-family', 'font-weight', 'paint-order']

/** A copy of a drawing in which every colour and font is written out, as the page shows it. */
function resolved(node) {
  const copy = node.cloneNode(false)
  for (const name of [...copy.attributes].map(a => a.name)) if (/^(class|data-|aria-|role|tabindex|style)/.test(name)) copy.removeAttribute(name)
  if (!['svg', 'defs', 'clipPath', 'g'].includes(node.tagName)) {
    const style = getComputedStyle(node)
    if (style.display === 'none' || style.visibility === 'hidden') return null
    for (const name of DRAWN) copy.setAttribute(name, style.getPropertyValue(name))
  } else if (node.tagName === 'g') copy.setAttribute('opacity', getComputedStyle(node).opacity)
  for (const child of node.childNodes) {
    const made = child.nodeType === 1 ? resolved(child) : child.cloneNode()
    if (made) copy.append(made)
  }
  return copy
}

/** All plots beside each other as one SVG text, each under its title. */
function drawing(plots, host) {
  const style = getComputedStyle(host)
  const gap = 16, head = 24
  let x = gap, tall = 0
  const parts = []
  for (const { title, svg } of plots) {
    const [width, height] = ['width', 'height'].map(name => +svg.getAttribute(name))
    const copy = resolved(svg)
    copy.setAttribute('x', x)
    copy.setAttribute('y', head)
    parts.push(s('text', { x: x + 4, y: 16, 'font-size': '12.5px', 'font-weight': 600, 'font-family': style.fontFamily, fill: style.color }, title), copy)
    x += width + gap
    tall = Math.max(tall, height)
  }
  const whole = s('svg', { width: x, height: tall + head + 8, viewBox: `0 0 ${x} ${tall + head + 8}` },
    s('rect', { width: '100%', height: '100%', fill: style.backgroundColor }), parts)
  return new XMLSerializer().serializeToString(whole)
}

/** Have the browser print a drawing on a sheet of its own size: its dialogue saves that as a PDF, lines as lines. */
function printed(text, title) {
  const picture = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement
  const [width, height] = ['width', 'height'].map(name => Math.ceil(+picture.getAttribute(name)))
  const frame = h('iframe', { class: 'sheet', title: 'Sheet to print', 'aria-hidden': 'true', tabindex: -1, style: 'position:fixed;width:0;height:0;border:0' })
  document.body.append(frame)
  const sheet = frame.contentDocument
  sheet.title = title
  const style = sheet.createElement('style')
  style.textContent = `@page { size: ${width}px ${height}px; margin: 0 } html, body { margin: 0; print-color-adjust: exact } svg { display: block }`
  sheet.head.append(style)
  sheet.body.append(sheet.importNode(picture, true))
  frame.contentWindow.addEventListener('afterprint', () => frame.remove())
  frame.contentWindow.print()
}
