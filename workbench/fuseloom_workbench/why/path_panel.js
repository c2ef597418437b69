/** What the cycles were spent on: summary, what could be gained, segments and channels. */
export function render({ model: sent, el }) {
  const model = drawn(sent)
  const frame = h('div', { class: 'frame' })
  el.append(frame)
  let open = new Set()

  const explain = () => model.send_msg({ kind: 'explain' })
  const name = row => h('button', { class: 'link', title: 'Show this node in the graph', on: { click: () => model.send_msg({ kind: 'select', node: row.node }) } }, row.name || row.stream)
  const figures = (key, ...texts) => texts.map(text => h('td', { class: 'figure', 'data-help': key }, text))
  const table = (label, heads, rows) => h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, h('table', {}, h('caption', {}, label),
    h('thead', {}, h('tr', {}, heads.map(([text, key, left]) => h('th', { scope: 'col', class: key && !left && 'figure', 'data-help': key }, text)))), h('tbody', {}, rows)))
  const line = (row, ...cells) => h('tr', { class: row.node === model.view.node ? 'current' : null, 'data-node': row.node }, ...cells.flat())
  const bar = share => h('td', { 'data-help': 'path.cycles' }, h('div', { class: 'share', 'aria-hidden': 'true' }, h('i', { style: `width:${Math.max(1, 100 * share)}%` })), h('span', {}, `${(100 * share).toFixed(1)} %`))
  const more = (key, title, content) => {
    const part = h('details', { open: open.has(key), on: { toggle: () => part.open ? open.add(key) : open.delete(key) } }, h('summary', {}, title), content)
    return part
  }

  function draw() {
    if (!there(model)) return
    const v = model.view, p = v.path
    if (!p.rows) {
      frame.replaceChildren(!v.ready
        ? h('p', { class: 'quiet' }, v.at_once ? 'No run of this configuration yet. Press Run; a run of this size is explained at once.' : 'No run of this configuration yet. Press Run first.')
        : h('div', { class: 'ask' }, h('button', { class: 'button primary', 'data-action': 'explain', disabled: v.running || v.too_long, on: { click: explain } }, 'Explain'),
          h('span', { class: 'quiet', 'data-help': 'run.length' }, v.takes)))
      return
    }
    frame.replaceChildren(
      h('p', { class: 'head', 'data-help': 'path.gain' }, h('b', {}, v.region), ' — ', p.head),
      p.start ? h('p', { class: 'warn', 'data-help': 'path.cycles' }, '⚠ ' + p.start) : '',
      h('div', { class: 'columns' },
        table('Where the cycles of the critical path went', [['share of cycles', 'path.cycles', 1], ['cycles', 'path.cycles'], ['times', 'path.pieces'], ['node'], ['why']],
          p.rows.map(row => line(row, bar(row.share), figures('path.cycles', row.cycles), figures('path.pieces', row.times), h('td', {}, name(row)), h('td', { class: 'why' }, row.what)))),
        table('What if a node were twice as fast', [['node'], ['own work on the path (cycles)', 'path.cycles'], ['saves at most (cycles)', 'path.gain'], ['run takes at least (cycles)', 'promise.bound']],
          p.gains.map(row => line(row, h('td', {}, name(row)), figures('path.cycles', row.own), figures('path.gain', row.gain), figures('promise.bound', row.cycles))))),
      p.hidden ? h('p', { class: 'quiet' }, `and ${p.hidden} smaller rows`) : '',
      more('segments', `Segments of the path in time (${p.segments.length}${p.left_out ? ` longest; ${p.left_out} shorter ones are left out` : ''})`,
        table('Segments', [['from cycle', 'path.cycles'], ['to cycle', 'path.cycles'], ['cycles', 'path.cycles'], ['node'], ['why']],
          p.segments.map(row => line(row, figures('path.cycles', row.from, row.to, row.cycles), h('td', {}, name(row)), h('td', { class: 'why' }, row.what))))),
      more('channels', `Fullest channels (${v.channels.length}${v.more ? ` of ${v.channels.length + v.more}` : ''})`,
        table('Channels', [['stream'], ['from → to'], ['mean (tokens)', 'channel.filling'], ['most (tokens)', 'channel.filling'], ['capacity (tokens)', 'machine.capacity']],
          v.channels.map(row => line(row, h('td', {}, name(row)), h('td', {}, row.ends), figures('channel.filling', row.mean, row.most), figures('machine.capacity', row.capacity), row.full && h('td', {}, h('span', { class: 'badge old' }, 'was full')))))))
  }

  model.on('view', draw)
  draw()
}
