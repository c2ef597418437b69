/** Figures of a comparison as people read them, each with its unit. */
const unit = text => h('span', { class: 'unit' }, ` ${text}`)
const counted = (n, one, many = `${one}s`) => [full(n), unit(n === 1 ? one : many)]

/** A time or an energy with the prefix that fits it. */
function prefixed(value, sign) {
  if (!value) return ['0', unit(sign)]
  for (const [prefix, scale] of [['', 1], ['m', 1e-3], ['µ', 1e-6], ['n', 1e-9]]) if (value >= scale * .9995) return [(value / scale).toPrecision(3), unit(prefix + sign)]
  return [(value * 1e12).toPrecision(3), unit(`p${sign}`)]
}

/** The columns of a row: its heading, the key of its help, and its cell. */
const COLUMNS = [
  ['kernels', 'systems.kernels', row => row.kernels === null ? null : counted(row.kernels, 'kernel')],
  ['bytes between', 'systems.between', row => row.bytes_between === null ? null : [full(row.bytes_between), unit('B')]],
  ['recompute factor', 'systems.recompute', row => row.recompute === null ? null : [row.recompute.toFixed(2), unit('×')]],
  ['FLOPs', 'systems.flops', row => row.flops === null ? null : counted(row.flops, 'FLOP')],
  ['simulated', 'cycles.simulated', row => row.simulated_cycles === null ? null : counted(row.simulated_cycles, 'cycle')],
  ['predicted', 'systems.predicted', row => row.predicted === null ? null : row.predicted_unit === 's' ? prefixed(row.predicted, 's') : counted(Math.round(row.predicted), 'cycle')],
  ['measured', 'systems.measured', row => row.measured_seconds === null ? null : prefixed(row.measured_seconds, 's')],
  ['energy', 'energy', row => row.energy === null ? null : prefixed(row.energy, 'J')],
  ['largest error', 'error.result', row => row.max_rel_error === null ? null : [row.max_rel_error ? row.max_rel_error.toExponential(1) : '0', unit('relative')]],
]

/** The state of a system that has no rows: in line, under way, or not asked. */
function waiting(system, busy) {
  if (!busy.text || ['read', 'reading'].includes(busy.text)) return 'not compared yet'
  return busy.text.split(',')[0] === system ? `under way: ${busy.text} …` : 'in line'
}

/** Why a system, or some of its schemes, does not apply; a reason without schemes is of one that was given up. */
const refusal = (one, all) => `${all ? '' : `${one.ways.join(', ')}: `}${one.ways.length ? 'does not apply: ' : ''}${one.reason}`
