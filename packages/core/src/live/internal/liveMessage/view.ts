import type { FormattedText } from "../../../model/internal/text/spans.ts"
import { type Format, type Part, takePart, truncate } from "./parts.ts"

/** Where a message ends: the next one shows the text from `at` on. */
export interface Cut {
  readonly at: number
  /** The start of the text that is read, if different from `at`: formatting that is open at `at` begins there. */
  readonly from?: number
  /** The text that is read before the start, and is not shown. */
  readonly reopened: string
}

/** The content of a live message: text that grows, or content that is replaced. */
export interface View {
  /**
   * Reads the text of the message that is shown now. A long text may be cut early if `shown`, the length of the text that the
   * message shows, is given.
   */
  readonly read: (isComplete: boolean, shown?: number) => Part
  /** Continues with the text after a part that was read. */
  readonly advance: (part: Part) => Cut
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
  /** The whole text, as it was appended. */
  readonly text: () => string
}

/** Two words that are complete, or as many characters, for languages without spaces. The notification shows them. */
const firstWords = /\S\s+\S+\s|\S.{19}/su

const atBeginning: Cut = { at: 0, reopened: "" }

export const growing = (format: Format): GrowingView => {
  let all = ""
  let begun = atBeginning
  let complete = 0
  let endsInReturn = false
  const cut = (made: Cut): void => {
    begun = made
    complete++
  }
  const read = (isComplete: boolean, shown?: number): Part => {
    const { at, from = at, reopened } = begun
    const source = reopened + all.slice(from)
    return takePart(source, { format, isComplete, at: reopened.length + at - from, shown })
  }
  return {
    read,
    advance: ({ rest }) => {
      const { at, from = at, reopened } = begun
      const offset = from - reopened.length
      const isSameBlock = rest?.from === 0
      const made: Cut =
        rest === undefined
          ? { at: all.length, reopened: "" }
          : isSameBlock
            ? { at: offset + rest.at, from, reopened }
            : { at: offset + rest.at, from: offset + rest.from, reopened: rest.reopened }
      cut(made)
      return made
    },
    complete: () => complete,
    isBegun: () => firstWords.test(read(false).text.text),
    append: (text) => {
      if (text === "") return
      // A line break can be split between two chunks.
      const added = (endsInReturn && text.startsWith("\n") ? text.slice(1) : text).replace(/\r\n?/g, "\n")
      endsInReturn = text.endsWith("\r")
      all += added
    },
    reset: (text) => {
      all = text
      begun = atBeginning
      complete = 0
      endsInReturn = false
    },
    cut,
    text: () => all
  }
}

/** Content that is replaced as a whole. Content beyond the limit of a message is omitted. */
export const replaced = (): View & { readonly set: (text: FormattedText) => void } => {
  let content: FormattedText | undefined
  return {
    read: () => ({
      text: content === undefined ? { text: "", spans: [] } : truncate(content),
      rest: undefined
    }),
    advance: () => atBeginning,
    complete: () => 0,
    isBegun: () => content !== undefined && content.text.trim() !== "",
    set: (text) => void (content = text)
  }
}
