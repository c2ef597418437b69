/** Times and sizes as people read them. */
function time(seconds) {
  for (const [unit, scale] of [['s', 1], ['ms', 1e-3], ['µs', 1e-6]]) if (seconds >= scale) return `${(seconds / scale).toPrecision(3)} ${unit}`
  return `${(seconds * 1e9).toPrecision(3)} ns`
}

function bytes(n) {
  return n < 1024 ? `${n} B` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`
}
