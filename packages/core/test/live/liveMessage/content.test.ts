import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { growingText, type Recorded } from "../../../src/live/internal/liveMessage/content.ts"

type Entry = typeof Recorded.Type

/** Runs a source after the recorded entries of earlier attempts. Returns the text, and the entries with those of this attempt. */
const attempt = (recorded: ReadonlyArray<Entry>, parts: ReadonlyArray<string>) => {
  const entries = [...recorded]
  const append = (value: Entry) => Effect.sync(() => void entries.push(value))
  const after = () => Stream.fromIterable(parts).pipe(Stream.rechunk(1))
  const content = growingText("plain", { goesOn: false, after })({ append, flush: Effect.void, recorded })
  return Effect.map(
    content.source(() => {}),
    () => {
      content.keep()
      return { text: content.text(), entries }
    }
  )
}

describe("the text of a live message that begins again", () => {
  it.effect("has what people saw, at whatever entry the process of the second attempt ended", () =>
    Effect.gen(function* () {
      const first = yield* attempt([], ["one ", "two ", "thr"])
      const second = yield* attempt(first.entries, ["one ", "two ", "three ", "four "])
      for (let length = first.entries.length; length <= second.entries.length; length++) {
        const { text } = yield* attempt(second.entries.slice(0, length), [])
        assert.isTrue(text.startsWith("one two "), `after ${length} entries: ${text}`)
      }
      assert.strictEqual((yield* attempt(second.entries, [])).text, "one two three four ")
    })
  )

  it.effect("is the text of the second attempt if the source says something else", () =>
    Effect.gen(function* () {
      const { entries } = yield* attempt(["one ", "two "], ["On", "ce 😀".slice(0, 4), "😀".slice(1), " upon"])
      assert.strictEqual((yield* attempt(entries, [])).text, "Once 😀 ")
    })
  )
})
