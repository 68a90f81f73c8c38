import { type Format, type Part, takePart } from "./parts.ts"

/** Where a message ends: the next one shows the text from `at` on. */
export interface Cut {
  readonly at: number
  /** The start of the text that is read, if different from `at`: formatting that is open at `at` begins there. */
  readonly from?: number
  /** The text that is read before the start, and is not shown. */
  readonly reopened: string
}

/** Two words that are complete, or as many characters, for languages without spaces. The notification shows them. */
const firstWords = /\S\s+\S+\s|\S.{19}/su

const atBeginning: Cut = { at: 0, reopened: "" }

/** Text that grows. */
export const growing = (format: Format) => {
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
    /** Reads the text of the message that is shown now, which may be cut early if `shown` is given. */
    read,
    /** Continues with the text after a part that was read. */
    advance: ({ rest }: Part): Cut => {
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
    /** How many messages are complete. */
    complete: (): number => complete,
    /** Whether there is enough text for a first message. */
    isBegun: (): boolean => firstWords.test(read(false).text.text),
    append: (text: string): void => {
      if (text === "") return
      // A line break can be split between two chunks.
      const added = (endsInReturn && text.startsWith("\n") ? text.slice(1) : text).replace(/\r\n?/g, "\n")
      endsInReturn = text.endsWith("\r")
      all += added
    },
    /** Replaces all text, also that of messages which are complete. */
    reset: (text: string): void => {
      all = text
      begun = atBeginning
      complete = 0
      endsInReturn = false
    },
    /** Completes a message. */
    cut,
    /** The whole text, as it was appended. */
    text: (): string => all
  }
}

export type GrowingView = ReturnType<typeof growing>
