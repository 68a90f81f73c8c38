export type Kind =
  | "quote"
  | "heading"
  | "link"
  | "user_mention"
  | "strong"
  | "emphasized"
  | "strikethrough"
  | "underline"
  | "highlighted"
  | "monospaced"

export interface Span {
  readonly kind: Kind
  readonly from: number
  readonly to: number
  readonly url?: string
  readonly user_id?: number
}

export interface Spanned {
  readonly text: string
  readonly spans: ReadonlyArray<Span>
}

const order: Record<Kind, number> = {
  quote: 0,
  heading: 1,
  link: 2,
  user_mention: 3,
  strong: 4,
  emphasized: 5,
  strikethrough: 6,
  underline: 7,
  highlighted: 8,
  monospaced: 9
}

// Blocks enclose everything, and nothing can be opened inside monospaced text.
const layer = (kind: Kind): number => (isBlock(kind) ? order[kind] : kind === "monospaced" ? 3 : 2)

export const isBlock = (kind: Kind): boolean => kind === "quote" || kind === "heading"

const isTarget = (kind: Kind): boolean => kind === "link" || kind === "user_mention"

export const sameMark = (a: Span, b: Span): boolean => a.kind === b.kind && a.url === b.url && a.user_id === b.user_id

const compare = (a: Span, b: Span): number => a.from - b.from || b.to - a.to || order[a.kind] - order[b.kind]

/** Sorted, without empty spans; touching spans of the same mark are one. */
export const normalize = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const out: Array<Span> = []
  const last = new Map<string, number>()
  for (const span of spans.filter((span) => span.from < span.to).sort(compare)) {
    const key = `${span.kind} ${span.user_id ?? ""} ${span.url ?? ""}`
    const index = last.get(key)
    if (index !== undefined && out[index].to >= span.from) {
      out[index] = { ...out[index], to: Math.max(out[index].to, span.to) }
    } else {
      last.set(key, out.length)
      out.push(span)
    }
  }
  return out.sort(compare)
}

/** What `span` covers and no link or mention covers yet: targets do not nest, the inner one wins. */
const uncovered = (spans: ReadonlyArray<Span>, span: Span): ReadonlyArray<Span> => {
  const gaps: Array<Span> = []
  let from = span.from
  for (const taken of spans) {
    if (!isTarget(taken.kind)) continue
    if (taken.from > from) gaps.push({ ...span, from, to: Math.min(taken.from, span.to) })
    from = Math.max(from, taken.to)
  }
  gaps.push({ ...span, from })
  return gaps
}

export const mark = (self: Spanned, span: Span): Spanned => ({
  text: self.text,
  spans: normalize([...self.spans, ...(isTarget(span.kind) ? uncovered(self.spans, span) : [span])])
})

export const concat = (parts: Iterable<Spanned>): Spanned => {
  const texts: Array<string> = []
  const spans: Array<Span> = []
  let offset = 0
  let endsLine = true
  let endsBlock = false
  for (const part of parts) {
    if (part.text === "") continue
    const startsBlock = part.spans.some((span) => span.from === 0 && isBlock(span.kind))
    if (!endsLine && (startsBlock || (endsBlock && !part.text.startsWith("\n")))) {
      texts.push("\n")
      offset++
    }
    for (const span of part.spans) spans.push({ ...span, from: span.from + offset, to: span.to + offset })
    texts.push(part.text)
    offset += part.text.length
    endsLine = part.text.endsWith("\n")
    endsBlock = part.spans.some((span) => span.to === part.text.length && isBlock(span.kind))
  }
  return { text: texts.join(""), spans: normalize(spans) }
}

export const clip = (spans: ReadonlyArray<Span>, from: number, to: number): Array<Span> => {
  const out: Array<Span> = []
  for (const span of spans) {
    if (span.from < to && span.to > from) {
      out.push({ ...span, from: Math.max(span.from, from) - from, to: Math.min(span.to, to) - from })
    }
  }
  return out
}

export const slice = (self: Spanned, from: number, to: number): Spanned => ({
  text: self.text.slice(from, to),
  spans: clip(self.spans, from, to)
})

/** Pieces that nest properly, in the order in which they open; a span is cut where another one has to enclose it. */
export const nest = (spans: ReadonlyArray<Span>): Array<Span> => {
  const pieces: Array<Span> = []
  const stack: Array<{ readonly span: Span; readonly index: number }> = []
  const positions = [...new Set(spans.flatMap((span) => [span.from, span.to]))].sort((a, b) => a - b)
  let next = 0
  for (const position of positions) {
    const open: Array<Span> = []
    const pop = () => {
      const { index, span } = stack.pop()!
      pieces[index] = { ...pieces[index], to: position }
      if (span.to > position) open.push(span)
    }
    const ended = stack.findIndex(({ span }) => span.to === position)
    while (ended >= 0 && stack.length > ended) pop()
    while (next < spans.length && spans[next].from === position) open.push(spans[next++])
    const lowest = Math.min(...open.map((span) => layer(span.kind)))
    while (stack.length > 0 && layer(stack[stack.length - 1].span.kind) > lowest) pop()
    open.sort((a, b) => layer(a.kind) - layer(b.kind) || b.to - a.to || order[a.kind] - order[b.kind])
    for (const span of open) {
      stack.push({ span, index: pieces.length })
      pieces.push({ ...span, from: position })
    }
  }
  return pieces
}
