import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Text from "../../../model/Text.ts"
import { type Format, isHighSurrogate, type Part, truncate } from "./parts.ts"
import { growing, type GrowingView } from "./view.ts"

/** The entries of the journal about a live message that runs, in the order in which they happened. */
export const Recorded = Schema.Union([
  /** Text was added. */
  Schema.String,
  /** The text begins again with this text. One entry, so that a process that ends leaves the old text or the new one. */
  Schema.Struct({ again: Schema.String }),
  /** A message is complete. */
  Schema.Struct({ at: Schema.Int, from: Schema.optionalKey(Schema.Int), reopened: Schema.String }),
  /** The source keeps this beside the text. */
  Schema.Struct({ note: Schema.String })
])

type Recorded = typeof Recorded.Type

export interface List {
  readonly recorded: ReadonlyArray<Recorded>
  /** Takes the value when the function is called. */
  readonly append: (value: Recorded) => Effect.Effect<void>
  readonly flush: Effect.Effect<void>
}

/** The content of a live message, as the messages show it. */
export interface View {
  /**
   * Reads the text of the message that is shown now. A long text may be cut early if `shown`, the length of the text that the
   * message shows, is given.
   */
  readonly read: (isComplete: boolean, shown?: number) => Part
  /** Continues with the text after a part that was read, and records that its message is complete. */
  readonly advance: (part: Part) => Effect.Effect<void>
  /** How many messages are complete. */
  readonly complete: () => number
  /** Whether there is enough text for a first message. */
  readonly isBegun: () => boolean
}

/** The content of a live message, and the source of the content. */
export interface Content<E, R> extends View {
  /** Changes the content, and calls its argument after each change. */
  readonly source: (notify: () => void) => Effect.Effect<void, E, R>
  /** Shows the text of an earlier attempt, if the source has not emitted as much text. */
  readonly keep: () => void
  readonly text: () => string
  /** Shows a text that is complete. */
  readonly restore: (text: string) => void
}

/** A value that a source keeps, and the length of the text at that time. */
export interface Note {
  readonly note: string
  readonly at: number
}

/** The text until a handler failed or its process ended. */
export interface Said {
  readonly text: string
  readonly notes: ReadonlyArray<Note>
}

/** A source of text. */
export interface Source<E, R> {
  /** Whether the source continues the text of an earlier attempt, or begins again. */
  readonly goesOn: boolean
  /** Whether the stream waits for work that may take long, so that silence is no failure. Default: `false`. */
  readonly isBusy?: () => boolean
  /** Gets the notes of a source that has ended in an earlier attempt. */
  readonly onRestored?: (notes: ReadonlyArray<Note>) => void
  readonly after: (said: Said) => Stream.Stream<string | { readonly note: string }, E, R>
}

const replay = (view: GrowingView, recorded: ReadonlyArray<Recorded>): ReadonlyArray<Note> => {
  let notes: Array<Note> = []
  view.reset("")
  for (const added of recorded) {
    if (typeof added === "string") view.append(added)
    else if ("again" in added) {
      view.reset("")
      view.append(added.again)
      notes = []
    } else if ("note" in added) notes.push({ note: added.note, at: view.text().length })
    else view.cut(added)
  }
  return notes
}

/** A longer word is recorded before its end. */
const maxWord = 60

/** Returns a text without the first half of a surrogate pair at its end. */
const withoutHalf = (text: string): string => (isHighSurrogate(text, text.length - 1) ? text.slice(0, -1) : text)

/** Returns the length of the complete words of a text. Only the end is read, because a part of a text can be long. */
const completeWords = (text: string): number => {
  for (let length = 0; length <= Math.min(maxWord, text.length - 1); length++) {
    const end = text.length - length
    if (/\s/.test(text.charAt(end - 1))) return end
  }
  if (text.length <= maxWord) return 0
  return withoutHalf(text).length
}

/** A text that grows, and that the journal records while the text grows. */
export const growingText =
  <E, R>(format: Format, { after, goesOn, onRestored }: Source<E, R>) =>
  ({ append, flush, recorded }: List): Content<E, R> => {
    const view = growing(format)
    const notes = replay(view, recorded)
    const said: Said = { text: view.text(), notes }
    /** The text that people see and the source has not emitted again. */
    let standing: string | undefined
    let word = ""
    if (!goesOn && said.text !== "") {
      standing = said.text
      view.reset("")
    }

    const record = (text: string): Effect.Effect<void> => {
      word += text
      const end = completeWords(word)
      if (end === 0) return Effect.void
      const words = word.slice(0, end)
      word = word.slice(end)
      return append(words)
    }
    const recordWord = (): Effect.Effect<void> => {
      const last = word
      word = ""
      return last === "" ? Effect.void : append(last)
    }

    const add = (text: string): Effect.Effect<void> => {
      view.append(text)
      if (standing === undefined) return record(text)
      if (standing.startsWith(view.text())) return Effect.void
      standing = undefined
      const again = withoutHalf(view.text())
      word = view.text().slice(again.length)
      return append({ again })
    }

    const addParts = Effect.fnUntraced(function* (parts: ReadonlyArray<string | { readonly note: string }>) {
      let text = ""
      for (const part of parts) {
        if (typeof part === "string") {
          text += part
          continue
        }
        yield* add(text)
        text = ""
        yield* recordWord()
        yield* append(part)
      }
      if (text !== "") yield* add(text)
    })

    return {
      ...view,
      // Later messages are sent only when the cut is recorded, so that no message is sent for another part.
      advance: (part) =>
        Effect.suspend(() => {
          const cut = view.advance(part)
          return Effect.andThen(Effect.andThen(recordWord(), append(cut)), flush)
        }),
      source: (notify) =>
        Stream.runForEachArray(after(said), (parts) =>
          Effect.map(addParts(parts), () => {
            if (standing === undefined) notify()
          })
        ),
      keep: () => {
        if (standing !== undefined) replay(view, recorded)
      },
      restore: (text) => {
        onRestored?.(replay(view, recorded))
        const known = view.text()
        if (text.startsWith(known)) view.append(text.slice(known.length))
        else view.reset(text)
      }
    }
  }

/** Shows the content that a function returns when the effect runs. */
export type Show = (content: () => Text.Input) => Effect.Effect<void>

/** Content that is replaced as a whole, and that is not recorded. Content beyond the limit of a message is omitted. */
export const replacedContent = <E, R>(source: (show: Show) => Effect.Effect<void, E, R>): Content<E, R> => {
  let shown = Text.empty
  return {
    read: () => ({ text: truncate(shown), rest: undefined }),
    advance: () => Effect.void,
    complete: () => 0,
    isBegun: () => shown.text.trim() !== "",
    source: (notify) =>
      source((content) =>
        Effect.sync(() => {
          shown = Text.concat(content())
          notify()
        })
      ),
    keep: () => {},
    text: () => "",
    restore: () => {}
  }
}
