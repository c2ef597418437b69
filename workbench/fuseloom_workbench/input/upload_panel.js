/** A file from the page: dropped or chosen, sent part by part; each part waits for the answer to the one before. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const PART = 1 << 20
  let number = Math.floor(Math.random() * 1e6), file = null, waiting = -1, answers = -1

  const input = h('input', { type: 'file', class: 'hidden', tabindex: -1, 'aria-hidden': 'true', on: { change: () => { if (input.files[0]) take(input.files[0]); input.value = '' } } })
  const open = h('button', { class: 'button', 'data-action': 'open-file', on: { click: () => input.click() } }, 'Open a file…')
  const cancel = h('button', { class: 'button', 'data-action': 'cancel-file', on: { click: stop } }, 'Cancel')
  const bar = h('progress', { max: 1, 'aria-label': 'Share of the file that has been sent' })
  const way = h('div', { class: 'row way' }, bar, cancel)
  const said = h('div', { class: 'said', role: 'status', 'aria-live': 'polite' })
  const ask = h('div', { class: 'ask', role: 'group', 'aria-label': 'Which tensor is it?' })
  const lines = h('ul', { class: 'lines' })
  const bound = h('div', { class: 'bound' })
  const takes = h('span', { class: 'quiet' })
  const drop = h('div', { class: 'drop', role: 'group', 'aria-label': 'Files' }, h('div', { class: 'row' }, open, takes), input, way, said, ask, lines)
  el.append(drop, bound)

  for (const kind of ['dragenter', 'dragover']) drop.addEventListener(kind, event => { event.preventDefault(); drop.classList.add('over') })
  for (const kind of ['dragleave', 'drop']) drop.addEventListener(kind, () => drop.classList.remove('over'))
  drop.addEventListener('drop', event => {
    event.preventDefault()
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0])
  })

  function take(chosen) {
    number += 1
    file = chosen
    waiting = -1
    answers = model.status.count ?? -1
    if (chosen.size > model.view.most) {
      file = null
      say(`✕ ${chosen.name}: ${(chosen.size / 2 ** 20).toFixed(1)} MiB; at most ${(model.view.most / 2 ** 20).toFixed(0)} MiB here; the command line takes larger files`, true)
      ask.replaceChildren()
      lines.replaceChildren()
      return
    }
    say(`Sending ${chosen.name}`)
    bar.value = 0
    way.hidden = false
    model.send_msg({ kind: 'begin', number, name: chosen.name.slice(0, 2000), size: chosen.size })
  }

  function stop() {
    file = null
    model.send_msg({ kind: 'cancel' })
  }

  async function next(got) {
    if (waiting === got || !file) return
    waiting = got
    const mine = number
    try {
      const bytes = new Uint8Array(await file.slice(got, got + PART).arrayBuffer())
      let text = ''
      for (let k = 0; k < bytes.length; k += 0x8000) text += String.fromCharCode(...bytes.subarray(k, k + 0x8000))
      if (file && mine === number) model.send_msg({ kind: 'part', number, at: got, data: btoa(text) })
    } catch (problem) {
      say(`✕ ${file.name} cannot be read (${problem.message})`, true)
      stop()
    }
  }

  function say(text, bad) {
    said.className = bad ? 'said bad' : 'said'
    said.textContent = text
  }

  function draw() {
    if (!there(model)) return
    const v = model.view, r = v.received
    takes.textContent = `or drop it here: ${v.takes}`
    const mine = file !== null && r.number === number
    if (mine && r.state === 'coming') {
      bar.value = r.got / r.size
      next(r.got)
    } else if (mine) file = null
    way.hidden = file === null
    if (file === null && r.state) {
      if (r.state === 'refused') say(`✕ ${r.message}`, true)
      else if (r.state !== 'coming') say(`${r.name} (${r.kind}): ${r.message}`)
    } else if (file === null && !said.classList.contains('bad')) say('')
    ask.replaceChildren(...(r.state === 'choose' ? r.fits.map(name => h('button', { class: 'button', 'data-bind': name, on: { click: () => model.send_msg({ kind: 'bind', tensor: name, key: r.key, label: r.name }) } }, `${name} ${v.inputs.find(i => i.name === name)?.shape || ''}`)) : []))
    lines.replaceChildren(...(r.state === 'done' && r.lines || []).map(text => h('li', {}, text)))
    bound.replaceChildren(...v.bound.map(b => h('p', {}, h('b', {}, b.tensor), ` is read from ${b.label}${b.used ? '' : ' (not used: the program has no such input of its shape)'} `, h('button', { class: 'button small', 'data-unbind': b.tensor, on: { click: () => model.send_msg({ kind: 'unbind', tensor: b.tensor }) } }, 'Its own data again'))))
  }

  model.on('view', draw)
  model.on('status', () => {
    const s = model.status
    if (s.ok === false && s.count !== answers && file !== null) {  // the process has ended, or it was refused
      file = null
      say(`✕ ${s.message}`, true)
      draw()
    } else if (s.ok === false && s.count !== answers && model.view.received?.state !== 'refused') say(`✕ ${s.message}`, true)
  })
  way.hidden = true
  draw()
}
