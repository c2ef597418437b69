/** Says when the server is busy, loading or gone; keeps the design, and hands it to the page after a reload. */
export function render({ model: sent, el, view }) {
  const model = drawn(sent)
  const KEY = `fuseloom:${location.pathname}`
  const LOOK = 10000      // milliseconds between two looks whether the server answers
  const PATIENT = 700     // milliseconds before a request is called long
  const text = h('span', {})
  const button = h('button', { class: 'button primary', 'data-action': 'reconnect', on: { click: reconnect } }, 'Reconnect')
  const line = h('div', { class: 'line', role: 'status', 'aria-live': 'polite' }, text, button)
  el.append(line)
  let lost = ''          // why there is no connection
  let long = false       // whether the request under way has taken a while
  let timer = null
  let closed = false
  let next = null        // when to look again whether the server answers

  const store = (name, value) => { try { sessionStorage.setItem(name, value) } catch { /* full, or forbidden */ } }
  const stored = name => { try { return sessionStorage.getItem(name) } catch { return null } }

  function draw() {
    const said = lost || model.notice || (long && model.working ? 'Working on it… A newer request ends this one.' : '')
    text.textContent = said
    line.className = lost ? 'line lost' : 'line'
    line.hidden = !said
    button.hidden = !lost
  }

  async function answers() {
    const end = new AbortController()
    const late = setTimeout(() => end.abort(), 8000)
    try {
      // a small file that every server of such pages has
      const file = new URL('static/js/bokeh.min.js', location.href)
      await fetch(file, { method: 'HEAD', cache: 'no-store', signal: end.signal })
      return true
    } catch {
      return false
    } finally {
      clearTimeout(late)
    }
  }

  function lookIn(milliseconds) {
    clearTimeout(next)
    next = setTimeout(look, milliseconds)
  }

  async function look() {
    const there = await answers()
    if (closed) lost = there ? 'The connection to the server was lost; the server answers again. Reconnect goes on with this design.'
      : 'The server does not answer. Reconnect goes on with this design when it does.'
    else lost = there ? '' : 'The server does not answer. It may be busy, or gone.'
    draw()
    lookIn(lost ? 2000 : LOOK)
  }

  async function reconnect() {
    button.disabled = true
    text.textContent = 'Reconnecting…'
    if (await answers()) {
      store(`${KEY}:recover`, 'yes')
      location.reload()
      return
    }
    button.disabled = false
    lost = 'The server still does not answer.'
    draw()
  }

  view?.model?.document?.on_event('connection_lost', () => {
    closed = true
    lost = 'The connection to the server was lost. Reconnect goes on with this design.'
    draw()
    lookIn(2000)
  })

  function keep() {
    if (there(model)) store(KEY, sent.drawn)
  }

  /** Go on where this tab was, unless an address that names a design is opened; whether it does. */
  function resume() {
    const text = stored(KEY)
    const named = new URLSearchParams(location.search).has('model')
    const came = performance.getEntriesByType('navigation')[0]?.type
    const same = ['reload', 'back_forward'].includes(came) && stored(`${KEY}:address`) === location.search
    const again = stored(`${KEY}:recover`) === 'yes'
    if (!text || (named && !again && !same)) return false
    try {
      sessionStorage.removeItem(`${KEY}:recover`)
      model.send_msg({ kind: 'restore', saved: JSON.parse(text), session_token: stored(`${KEY}:session_token`) || '' })
      return true
    } catch { return false /* nothing to go on with */ }
  }

  /** The session as a file. */
  function save() {
    keep()
    const text = stored(KEY)
    if (!text) return
    const link = h('a', { href: URL.createObjectURL(new Blob([text], { type: 'application/json' })), download: `fuseloom-${JSON.parse(text).design?.model || 'session'}.json` })
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  }
  window.addEventListener('fuseloom:save', save)
  document.documentElement.dataset.flSaves = ''

  window.addEventListener('pagehide', () => store(`${KEY}:address`, location.search))  // Share changes it
  if (!resume()) keep()
  const remember = () => { if (sent.session_token) store(`${KEY}:session_token`, sent.session_token) }
  model.on('session_token', remember)
  remember()
  model.on('view', keep)
  model.on('notice', draw)
  model.on('working', () => {
    long = false
    clearTimeout(timer)
    if (model.working) timer = setTimeout(() => { long = true; draw() }, PATIENT)
    draw()
  })
  lookIn(LOOK)
  draw()
}
