import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

/** A tracer that keeps its spans, and their lines: the name of a span after the names of its parents. */
export const recordSpans = () => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const lineOf = (span: Tracer.AnySpan): string => {
    const name = span._tag === "Span" ? span.name : "external"
    const parent = span._tag === "Span" ? Option.getOrUndefined(span.parent) : undefined
    return parent === undefined ? name : `${lineOf(parent)} > ${name}`
  }
  const attributesOf = (name: string) =>
    spans.filter((span) => span.name === name).map(({ attributes }) => Object.fromEntries(attributes))
  return { spans, tracer, lines: () => spans.map(lineOf), attributesOf }
}
