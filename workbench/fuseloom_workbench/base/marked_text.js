/**
 * A piece of the text of a textarea, underlined behind it.
 *
 * `mark` is to stand before the textarea, in the same box; what is before the piece is there, unseen, to take its room.
 */
function markedText(area) {
  const mark = h('div', { class: 'mark', 'aria-hidden': 'true' })
  area.addEventListener('scroll', () => { mark.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)` })
  /** Where a line and a column, from 1 on, are in the text. */
  const place = (line, column) => area.value.split('\n').slice(0, line - 1).reduce((n, text) => n + text.length + 1, 0) + column - 1
  const word = at => (area.value.slice(at).match(/^([\w'.]+|[^\n])/) || [' '])[0].length

  return {
    mark,
    place,
    /** Underline what begins there, a word or as much as `length(at)` says; nothing without a line. */
    underline(line, column, length = word) {
      mark.replaceChildren()
      if (!line) return
      const at = place(line, column)
      mark.append(area.value.slice(0, at), h('u', { title: `line ${line}, column ${column}` }, area.value.slice(at, at + length(at)) || ' '))
    },
  }
}
