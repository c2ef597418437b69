// Axes: from a figure of a run to a place, ticks at 1, 2 and 5, and numbers as people read them.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
/** A figure in full, with thousands separated: what tooltips and tables show. */
const full = value => value === null || value === undefined ? 'not known' : Math.abs(value) < 10 && value % 1 ? value.toPrecision(3) : whole.format(value)

/** A figure as a tick has it: 20k, 1.5M, 0.2. */
function brief(value) {
  for (const [size, sign] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (Math.abs(value) >= size) return `${+(value / size).toPrecision(4)}${sign}`
  return `${+value.toPrecision(4)}`
}

/** Ticks at 1, 2 or 5 times a power of ten, at most so many, between two figures. */
function evenTicks(low, high, most) {
  if (!(high > low)) return [low]
  const rough = (high - low) / most
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].find(k => k * power >= rough * 0.999) * power
  const ticks = []
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12); k++) ticks.push(+(k * step).toPrecision(12))
  return ticks
}

/** Ticks of a logarithmic axis: 1, 2 and 5 of each decade where they fit, else 1 alone; of less than a factor of 4 even ones. */
function logTicks(low, high, most) {
  if (high / low < 4) return evenTicks(low, high, most)
  for (const digits of [[1, 2, 5], [1, 5], [1]]) {
    const ticks = []
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
      for (const d of digits) {
        const tick = +`${d}e${p}`
        if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(tick)
      }
    if (ticks.length > most) continue
    return ticks.length > 1 ? ticks : evenTicks(low, high, most)
  }
  const decades = Math.ceil(Math.log10(high / low) / most)
  return Array.from({ length: most + 1 }, (_, k) => 10 ** (decades * (Math.ceil(Math.log10(low) / decades) + k))).filter(t => t <= high)
}

/** What an axis spans so that all figures are inside; a logarithmic one leaves out what is not above 0. */
function span(values, log) {
  const shown = log ? values.filter(v => v > 0) : values
  if (!shown.length) return log ? [1, 10] : [0, 1]
  const low = Math.min(...shown), high = Math.max(...shown)
  if (!log) return [0, high > 0 ? high * 1.12 : 1]
  const room = Math.max(Math.sqrt(high / low) ** 0.25, 1.18)
  return [low / room, high * room]
}

/** A scale: called with a figure it gives a place between `from` and `to`. */
function scale([low, high], log, from, to, most) {
  const at = log ? v => Math.log(v / low) / Math.log(high / low) : v => (v - low) / (high - low)
  const place = v => from + (to - from) * at(v)
  return Object.assign(place, { low, high, log, ticks: (log ? logTicks : evenTicks)(low, high, Math.max(2, most)) })
}
