/** What came of a recording, and what is where in a cycle. */
class Recording {
  constructor(view) {
    Object.assign(this, view.outline)
    this.key = view.key
    this.chunks = new Map()   // number -> streams of that span of cycles
    this.stories = new Map()  // node -> { acts, spans: [{ first, stop, moments }] }
  }

  take(chunk) {
    if (chunk.key !== this.key || this.chunks.has(chunk.number)) return
    if (this.chunks.size > 12) this.chunks.delete(this.chunks.keys().next().value)
    this.chunks.set(chunk.number, { first: chunk.first, stop: chunk.stop, streams: chunk.streams.map(s => new Channel(...s)) })
  }

  hear(story) {
    if (story.key !== this.key) return
    const known = this.stories.get(story.node) || { acts: story.acts, spans: [] }
    if (!known.spans.some(s => s.first === story.first)) known.spans.push(story)
    this.stories.set(story.node, known)
  }

  number(cycle) {
    let k = 0
    while (k + 2 < this.bounds.length && this.bounds[k + 1] <= cycle) k++
    return k
  }

  /** The chunk of a cycle, if it has come. */
  at(cycle) { return this.chunks.get(this.number(cycle)) }

  /** The sentences of a node around a cycle, if they have come. */
  span(node, cycle) { return this.stories.get(node)?.spans.find(s => s.first <= cycle && cycle < s.stop) }

  /** The moment that holds in a cycle, and those before it; undefined while they are not there. */
  told(node, cycle) {
    const span = this.span(node, cycle)
    if (!span) return undefined
    let [low, high] = [0, span.moments.length]
    while (low < high) {
      const mid = (low + high) >> 1
      if (span.moments[mid][0] <= cycle) low = mid + 1
      else high = mid
    }
    return { now: low ? span.moments[low - 1] : null, before: span.moments.slice(0, Math.max(0, low - 1)) }
  }

  /** The first cycle after (`way` 1) or before (`way` -1) this one in which a node acts, or -1. */
  nextAct(node, cycle, way) {
    const acts = this.stories.get(node)?.acts || []
    let found = -1
    for (let k = 0; k < acts.length; k += 2) {
      const [first, last] = [acts[k], acts[k] + acts[k + 1] - 1]
      if (way > 0 && last > cycle) return Math.max(first, cycle + 1)
      if (way < 0 && first < cycle) found = Math.min(last, cycle - 1)
    }
    return found
  }
}

/** The tokens of one stream in a span of cycles. */
class Channel {
  constructor(entered, left, spans) {
    this.entered0 = entered
    this.left0 = left
    this.spans = spans.map(([start, texts, puts, seen, gone]) => {
      let clock = 0
      const lag = (list, k) => typeof list === 'number' ? list : list[k]
      const tokens = texts.map((text, k) => {
        clock += puts[k]
        const [see, go] = [lag(seen, k), lag(gone, k)]
        return { number: start + k, text, put: clock, seen: see < 0 ? Infinity : clock + see, taken: go < 0 ? Infinity : clock + go }
      })
      return { start, tokens }
    })
  }

  get(number) {
    for (const { start, tokens } of this.spans) if (number >= start && number < start + tokens.length) return tokens[number - start]
    return null
  }

  /** Tokens put, or taken, until the end of a cycle of the span: none before it is counted twice. */
  entered(cycle) { return this.count(this.entered0, cycle, 'put') }
  left(cycle) { return this.count(this.left0, cycle, 'taken') }
  count(known, cycle, what) {
    let number = known
    for (let token = this.get(number); token && token[what] <= cycle; token = this.get(number)) number++
    return number
  }

  /** How many lie in the channel, the first `most` of them and the last one. */
  held(cycle, most) {
    const [left, entered] = [this.left(cycle), this.entered(cycle)]
    const tokens = []
    for (let k = left; k < Math.min(entered, left + most); k++) {
      const token = this.get(k)
      if (token) tokens.push(token)
    }
    return { left, entered, depth: entered - left, tokens, last: entered > left ? this.get(entered - 1) : null }
  }

  /** Up to so many tokens taken last. */
  gone(cycle, most) {
    const left = this.left(cycle)
    return Array.from({ length: most }, (_, k) => this.get(left - most + k)).filter(Boolean)
  }
}

/** A value in at most five characters or so; other tokens as they are. */
function small(text) {
  if (text.length <= 5 || !/^[−\d]/.test(text) || text.includes('×')) return text
  const value = Number(text.replace('−', '-'))
  if (!Number.isFinite(value) || Number.isInteger(value)) return text
  return String(Number(value.toPrecision(Math.abs(value) >= 100 ? 3 : 2))).replace('-', '−')
}

/** What a token is: leaf, stop, end of its stream, or nothing. */
function sort(text) {
  if (/^S\d*$/.test(text)) return 'stop'
  if (text === 'D') return 'done'
  return text === 'N' ? 'none' : 'leaf'
}
