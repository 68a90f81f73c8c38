import type { FormattedText } from "../text/spans.ts"
import { type Format, type Part, takePart, truncate } from "./parts.ts"

/** A part, and the length of the source when it was read. */
export interface Read extends Part {
  readonly length: number
}

/** Where a message ends: the next one shows the text from `at` on, after the marks that continue its formatting. */
export interface Cut {
  readonly at: number
  readonly reopened: string
}

/** What a message shows: text that grows, or content that is replaced. */
export interface View {
  /**
   * Reads the text of the message that is shown now. A long text may be cut early if `shown`, the length of the text that the
   * message shows, is given.
   */
  readonly read: (isComplete: boolean, shown?: number) => Read
  /** Goes on with what follows a part that was read, and with what was added since. */
  readonly advance: (part: Read) => Cut
  /** How many messages are complete. */
  readonly complete: () => number
  /** Whether there is enough text for a first message. */
  readonly isBegun: () => boolean
}

export interface GrowingView extends View {
  readonly append: (text: string) => void
  /** Replaces all text, also that of messages which are complete. */
  readonly reset: (text: string) => void
  /** Completes a message. */
  readonly cut: (cut: Cut) => void
  /** All text, as it was appended. */
  readonly text: () => string
}

/** Two words that are complete, or as many characters, for languages without spaces. The notification shows them. */
const firstWords = /\S\s+\S+\s|\S.{19}/su

export const growing = (format: Format): GrowingView => {
  let all = ""
  let open = ""
  let complete = 0
  let endsInReturn = false
  const cut = ({ at, reopened }: Cut): void => {
    open = reopened + all.slice(at)
    complete++
  }
  return {
    read: (isComplete, shown) => ({ ...takePart(open, format, isComplete, shown), length: open.length }),
    advance: ({ length, reopened = "", rest = "" }) => {
      const left = rest.length - reopened.length + open.length - length
      const made = { at: all.length - left, reopened }
      cut(made)
      return made
    },
    complete: () => complete,
    isBegun: () => firstWords.test(takePart(open, format, false).text.text),
    append: (text) => {
      if (text === "") return
      // A line break can be split between two chunks.
      const added = (endsInReturn && text.startsWith("\n") ? text.slice(1) : text).replace(/\r\n?/g, "\n")
      endsInReturn = text.endsWith("\r")
      all += added
      open += added
    },
    reset: (text) => {
      all = text
      open = text
      complete = 0
      endsInReturn = false
    },
    cut,
    text: () => all
  }
}

/** Content that is replaced as a whole. What exceeds a message is left out. */
export const replaced = (initial: FormattedText | undefined) => {
  let content = initial
  const view: View = {
    read: () => ({
      text: content === undefined ? { text: "", spans: [] } : truncate(content),
      rest: undefined,
      length: 0
    }),
    advance: () => ({ at: 0, reopened: "" }),
    complete: () => 0,
    isBegun: () => content !== undefined && content.text.trim() !== ""
  }
  return {
    ...view,
    set: (text: FormattedText): void => void (content = text)
  }
}
