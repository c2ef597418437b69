/** The command that gives each system's rows again, and a link to its page where that opens the same program. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const list = h('ul', { class: 'list', 'aria-label': 'Commands and pages' })
  const note = h('p', { class: 'quiet' })
  el.append(h('div', { class: 'head' }, h('b', {}, 'Again, and in detail'), h('span', { class: 'quiet' }, 'the command that gives the same rows, and the page of the system where it can open this program')), list, note)
  let shown = ''

  function draw() {
    const v = model.view
    if (!v.command) return
    const now = JSON.stringify([v.command, v.openings, v.own, v.data, v.schedule])
    if (now === shown) return  // the focus stays where it is
    shown = now
    list.replaceChildren(item('All', v.command, []), ...v.systems.map(one => item(one.title, `${v.command} --system ${one.system}`, v.openings.filter(other => other.system === one.system))))
    const notes = [
      v.own && `The command reads the program from a file: save its text as ${v.command.split(' ')[2]}.`,
      v.data && `It draws random data in place of ${v.label}.`,
      v.schedule !== null && 'The row of the explorer’s schedule comes with --schedule FILE, a file with the text of the schedule, in the place of the presets:',
    ].filter(Boolean)
    note.replaceChildren(notes.join(' '), ...(v.schedule === null ? [] : [' ', h('code', {}, v.schedule)]))
    note.hidden = !notes.length
  }

  function item(title, command, openings) {
    const text = h('code', { tabindex: 0, role: 'textbox', 'aria-readonly': 'true', 'aria-label': `Command: ${title}` }, command)
    const copy = h('button', { class: 'button', type: 'button', 'aria-label': `Copy the command: ${title}`, on: { click: async () => {
      try {
        await navigator.clipboard.writeText(command)
        copy.textContent = 'Copied'
      } catch {
        const range = document.createRange()
        range.selectNodeContents(text)
        getSelection().removeAllRanges()
        getSelection().addRange(range)
        copy.textContent = 'Selected'
      }
      setTimeout(() => { copy.textContent = 'Copy' }, 1500)
    } } }, 'Copy')
    return h('li', {}, h('b', {}, title), h('span', { class: 'command' }, text, copy), h('span', { class: 'pages' }, ...openings.map(one => h('span', {}, h('a', { href: one.address, target: '_blank', title: `The same program, ${one.note}` }, `Open in ${one.title}`), h('small', {}, ` ${one.note}`)))))
  }

  draw()
  model.on('view', draw)
}
