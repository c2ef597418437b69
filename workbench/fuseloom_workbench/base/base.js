// Helpers that every component's script starts with; see assets.py.

/** An element: attributes by name, `on` for listeners, children after. */
function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    if (key === 'class') node.className = value
    else if (key === 'style') node.style.cssText = value
    else if (key === 'on') for (const [event, f] of Object.entries(value)) node.addEventListener(event, f)
    else node.setAttribute(key, value === true ? '' : value)
  }
  node.append(...children.flat().filter(c => c !== null && c !== undefined && c !== false))
  return node
}

/** An element of SVG: attributes by name, texts and elements after. */
function shape(tag, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== null) node.setAttribute(name, value)
  node.append(...children.filter(child => child !== null && child !== undefined))
  return node
}

/**
 * A line that screen readers announce; `show({ok, message, ways})` fills it, if quiet with what was told only.
 * Ways out of a refusal are buttons; `take(text)` asks for one.
 */
function statusLine(quiet = false, take = null) {
  const line = h('div', { class: 'status', role: 'status', 'aria-live': 'polite' })
  line.show = status => {
    const bad = status && status.ok === false
    line.className = bad ? 'status bad' : 'status'
    line.textContent = status && (bad || !quiet || status.told) ? (bad ? '✕ ' : '') + (status.message ?? '') : ''
    if (/\d cycles/.test(line.textContent)) line.dataset.help = /\best/.test(line.textContent) ? 'cycles.estimated' : 'cycles.simulated'
    else line.removeAttribute('data-help')
    if (bad && take) line.append(...(status.ways ?? []).map(text => h('button', { class: 'button way', 'data-way': text, 'data-help': /\d cycles/.test(text) ? 'cycles.change' : null, on: { click: () => take(text) } }, text)))
  }
  return line
}

/** Whether nothing has the focus: what had it was drawn anew. */
const unfocused = () => !document.activeElement || document.activeElement === document.body

const UP = ['pointerup', 'pointercancel']

/** Calls back on a drag of more than a few pixels, so that clicks stay clicks; Esc ends it, and what is released then is no click. */
function draggable(handle, { start, move, end }) {
  handle.addEventListener('pointerdown', down => {
    if (down.button !== 0) return
    let moving = false
    const on = event => {
      if (!moving && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 4) return
      if (!moving) {
        moving = true
        handle.setPointerCapture(down.pointerId)
        start(down)
      }
      move(event, event.clientX - down.clientX, event.clientY - down.clientY)
    }
    const off = event => {
      window.removeEventListener('pointermove', on)
      window.removeEventListener('pointerup', off)
      window.removeEventListener('pointercancel', off)
      window.removeEventListener('keydown', escape, true)
      const ended = event.type === 'keydown'  // the button is still down: the click comes when it goes up
      if (!moving && !ended) return
      handle.dragged = true  // the click that follows belongs to the drag
      const after = () => {
        for (const type of UP) window.removeEventListener(type, after)
        setTimeout(() => { handle.dragged = false })
      }
      if (ended) for (const type of UP) window.addEventListener(type, after)
      else after()
      if (!moving) return
      end(event.type === 'pointerup' && handle.isConnected)  // what was drawn anew meanwhile is not where it was
    }
    const escape = event => { if (event.key === 'Escape') off(event) }
    // on the window: a fast pointer leaves a narrow handle before the drag has begun
    window.addEventListener('pointermove', on)
    window.addEventListener('pointerup', off)
    window.addEventListener('pointercancel', off)
    window.addEventListener('keydown', escape, true)
  })
}

/** The entry of `items` whose `place(item)` is nearest to `at`. */
function nearest(items, at, place) {
  return items.reduce((a, b) => Math.abs(place(b) - at) < Math.abs(place(a) - at) ? b : a)
}

/** In a notebook: tell Python that the page takes messages for this view, which it does from its index on, until Python has heard it; see comms.py. */
function tellShown(model) {
  let heard = false, pause = 250  // milliseconds
  model.on('msg:custom', message => { heard ||= message?.kind === 'heard' })
  const tell = () => {
    if (heard || pause > 300_000) return
    const roots = model.document?.roots() ?? []
    const there = roots.length && roots.every(root => root.id in window.Bokeh.index)
    if (there) model.send_msg({ kind: 'shown', roots: roots.map(root => root.id) })
    setTimeout(tell, there ? pause *= 2 : 50)
  }
  tell()
}

/** The model with `view` read from the JSON in `drawn`; a view that has not come is empty. */
function drawn(model) {
  if (window.PyViz) tellShown(model)
  helpBackend().register(model)
  let text = null
  let view = {}
  return new Proxy(model, {
    get(_, name) {
      if (name === 'on') return (event, f) => model.on(event === 'view' ? 'drawn' : event, f)
      if (name !== 'view') {
        const value = model[name]
        return typeof value === 'function' ? value.bind(model) : value
      }
      if (model.drawn !== text) {
        text = model.drawn
        view = JSON.parse(text)
      }
      return view
    },
  })
}

/** Whether anything has come to draw. */
const there = model => Object.keys(model.view).length > 0
