import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { UpdateJournal } from "../../../src/client/internal/journal/current.ts"
import {
  CurrentUpdate,
  type HandledUpdate,
  withoutJournal
} from "../../../src/inbox/internal/consumer/currentUpdate.ts"
import { contextOf } from "../../../src/inbox/internal/consumer/handling.ts"

const journal: UpdateJournal = {
  key: "update",
  call: () => Effect.never,
  callEndpoint: () => Effect.never,
  scope: (_name, _identity, effect) => effect,
  flush: Effect.void,
  texts: () => ({ occurrence: 1, recorded: [], add: () => {}, write: Effect.void, release: () => {} }),
  stateOf: () => undefined,
  release: () => {}
}

/** An update that counts how often its parts are read. */
const makeUpdate = () => {
  const reads: Array<string> = []
  const update: HandledUpdate = {
    get journal() {
      reads.push("journal")
      return journal
    },
    get changes() {
      reads.push("changes")
      return undefined
    },
    get answers() {
      reads.push("answers")
      return undefined
    },
    statements: undefined,
    entry: undefined,
    record: undefined
  }
  return { reads, update }
}

describe("CurrentUpdate", () => {
  it("creates no part of an update until it is used", () => {
    const { reads, update } = makeUpdate()
    const common = { base: undefined, context: undefined }
    const handling = {
      chat_id: undefined,
      lease: undefined,
      services: undefined,
      common,
      base: undefined,
      context: undefined
    }
    const context = contextOf(Context.empty(), { attempt: 1, updates: [{ attempt: 1, handling, current: update }] })
    assert.deepStrictEqual(reads, [])
    assert.strictEqual(Context.get(context, CurrentUpdate)?.journal, journal)
    assert.deepStrictEqual(reads, ["journal"])
  })

  it("has no journal, and creates no other part, in a broadcast", () => {
    const { reads, update } = makeUpdate()
    const unrecorded = withoutJournal(update)
    assert.strictEqual(unrecorded?.journal, undefined)
    assert.deepStrictEqual(reads, [])
    assert.strictEqual(unrecorded?.changes, undefined)
    assert.deepStrictEqual(reads, ["changes"])
    assert.strictEqual(withoutJournal(undefined), undefined)
  })
})
