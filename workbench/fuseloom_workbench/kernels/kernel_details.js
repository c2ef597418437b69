/** A kernel and an operation in words, and what was not fused there, by which rule. */
function kernelDetails(v, selected, send) {
  const count = n => n.toLocaleString('en')
  const number = v.kernels.findIndex(one => one.name === selected.kernel)
  const kernel = v.kernels[number]
  const at = v.operations.findIndex(one => one.name === selected.operation)
  const one = v.operations[at]
  const facts = rows => h('dl', {}, ...rows.filter(Boolean).flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))
  const go = name => h('button', { type: 'button', class: 'name', on: { click: () => send({ kind: 'operation', name }) } }, name)
  const several = names => names.length > 6 ? [...names.slice(0, 6).flatMap(name => [go(name), ' ']), `and ${count(names.length - 6)} more`] : names.flatMap(name => [go(name), ' '])
  const parts = []
  if (kernel) {
    parts.push(h('h3', {}, h('span', { class: `swatch k${kernel.colour}` }), `Kernel ${number + 1}: ${kernel.name}`), facts([
      ['kind', kernel.call ? `call of a library: ${kernel.opcode}` : kernel.schedule ? kernel.reason : `${kernel.opcode}: ${kernel.reason}`],
      ['operations', `${count(kernel.count)}, of layers ${kernel.span[0]} to ${kernel.span[1]}`],
      ['writes', several(kernel.roots)],
      kernel.schedule && ['schedule', `${kernel.schedule}${kernel.chosen ? ', chosen by hand' : ''}: ${count(kernel.blocks)} block${kernel.blocks > 1 ? 's' : ''} of threads`],
      kernel.bytes !== null && ['shared memory', `${bytes(kernel.bytes)} of a block${kernel.recomputed ? `; ${count(kernel.recomputed)} buffer${kernel.recomputed > 1 ? 's' : ''} given up` : ''}`],
    ]))
  }
  if (one) parts.push(h('h3', {}, `Operation ${one.name}`), facts([
    ['computes', h('code', {}, `${one.shape} ${one.opcode}`)],
    ['class', `${one.class}${one.light ? ', computed where it is read' : ''}${one.copy ? `; a copy of ${one.copy}` : ''}`],
    ['layer', `${one.span}${one.line ? `; line ${count(one.line)} of the text` : ''}`],
    one.operands.length && ['reads', several(one.operands.map(n => v.operations[n].name))],
    ['read by', several(v.operations.filter(other => other.operands.includes(at)).map(other => other.name)).concat(one.output ? ['the result'] : [])],
    ...Object.entries(one.more).filter(([name]) => name !== 'number').slice(0, 5).map(([name, value]) => [name, h('code', {}, value)]),
  ]))
  parts.push(...refusals(v, selected, kernel, one, send))
  return parts
}

/** What was not fused: of the operation that is selected, else of the kernel; else by rules. */
function refusals(v, selected, kernel, one, send) {
  const numbered = v.refused.map((refusal, n) => ({ ...refusal, n }))
  const inside = new Set(kernel ? v.operations.filter(other => v.kernels[other.kernel] === kernel).map(other => other.name) : [])
  const groups = []
  if (one) groups.push([`Why ${one.name} is not in other kernels`, numbered.filter(r => r.operation === one.name)], [`What ${one.name} kept out`, numbered.filter(r => r.reader === one.name && r.operation !== one.name)])
  if (kernel && !one) groups.push(['Not taken into this kernel', numbered.filter(r => r.root === kernel.name)], ['Its operations, not taken into others', numbered.filter(r => inside.has(r.operation))])
  const made = groups.filter(([, some]) => some.length).flatMap(([title, some]) => [h('h3', {}, `${title}: ${some.length}`), h('ul', { class: 'refusals' }, some.slice(0, 40).map(r => item(r, selected, send))), some.length > 40 ? h('p', { class: 'quiet' }, `and ${some.length - 40} more`) : ''])
  if (!made.length) made.push(h('p', { class: 'quiet' }, one ? `Nothing was refused of ${one.name}.` : 'Nothing was refused here.'))
  if (v.rules.length) made.push(h('details', {}, h('summary', {}, `All rules of this frame: ${v.refused.length.toLocaleString('en')} times not fused`), h('ul', { class: 'rules' }, v.rules.map(([rule, times]) => h('li', {}, h('b', {}, `${times} ×`), ` ${rule}`)))))
  return made
}

function item(r, selected, send) {
  const on = r.n === selected.refusal
  return h('li', {}, h('button', { type: 'button', class: on ? 'refusal on' : 'refusal', 'aria-pressed': String(on), title: 'Show both in the graph', on: { click: () => send({ kind: 'refusal', number: on ? -1 : r.n }) } },
    h('code', {}, r.operation), ' not into the kernel of ', h('code', {}, r.root), h('span', { class: 'rule' }, r.rule), h('span', { class: 'quiet' }, 'in the way: ', h('code', {}, r.reader), r.dims.length ? `, dimension${r.dims.length > 1 ? 's' : ''} ${r.dims.join(', ')}` : '')))
}
