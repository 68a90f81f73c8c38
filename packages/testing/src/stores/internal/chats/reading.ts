import type { ChatId } from "@colloquy/core/model/Chat"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as assert from "node:assert/strict"
import * as Fixtures from "../../../bot/Fixtures.ts"
import { test } from "../test.ts"
import { equals, ids, knownChatOf, upsert } from "./operations.ts"
import { added, at, chat_id, idOf, inDialog, titled, total } from "./updates.ts"

export const readCases = [
  test("filters chats by type and by the time of the last update", function* () {
    const [quiet, channel] = [idOf(11), idOf(12)]
    yield* upsert(added(0), titled(10, "Reading club"), added(0, quiet), inDialog("bot_started", 5))
    yield* upsert({ ...added(10, channel), is_channel: true })
    const check = Effect.fnUntraced(function* (filter: ChatStore.Filter, expected: ReadonlyArray<ChatId>) {
      equals(yield* ids(filter), [...expected])
      equals(yield* ChatStore.count(filter), expected.length)
    })
    yield* check({}, [chat_id, quiet, channel, Fixtures.dialogId])
    yield* check({ type: "chat" }, [chat_id, quiet])
    yield* check({ type: "channel" }, [channel])
    yield* check({ type: "a type to come" }, [])
    yield* check({ activeSince: at(5) }, [chat_id, channel, Fixtures.dialogId])
    yield* check({ activeSince: at(10) }, [chat_id, channel])
    yield* check({ activeSince: at(10) + 1 }, [])
    yield* check({ type: "chat", activeSince: at(10) }, [chat_id])
  }),

  test("streams every chat once, in ascending order of the ids, over many pages", function* () {
    const all = Array.from({ length: total }, (_, index) => idOf((index - 600) * 7_000_000_001))
    yield* upsert(...all.toReversed().map((id) => added(id % 2 === 0 ? 0 : 1, id)))
    equals(yield* ids(), all)
    equals(
      yield* ids({ activeSince: at(1) }),
      all.filter((id) => id % 2 !== 0)
    )
    equals(yield* ChatStore.count(), total)
  }),

  test("streams every other chat exactly once if chats are added and removed meanwhile", function* () {
    const all = Array.from({ length: total }, (_, index) => idOf((index + 1) * 10))
    yield* upsert(...all.map((id) => added(0, id)))
    const seen = yield* ChatStore.stream().pipe(
      Stream.map(({ chat_id }) => chat_id),
      Stream.tap((id) =>
        id % 100 === 0
          ? Effect.andThen(ChatStore.remove(idOf(id - 50)), upsert(added(5, idOf(id - 15)), titled(5, "Renamed", id)))
          : Effect.void
      ),
      Stream.filter((id) => id % 10 === 0),
      Stream.runCollect
    )
    equals(seen, all)
  }),

  test("exports each chat as a line of JSON with its exact id", function* () {
    const largest = idOf(Number.MAX_SAFE_INTEGER)
    yield* upsert(titled(0, 'A "quoted"\ntitle 👋', largest), inDialog("bot_started", 1, idOf(Number.MIN_SAFE_INTEGER)))
    const text = (yield* Stream.runCollect(ChatStore.exportNdjson())).join("")
    const lines = text.split("\n")
    equals(lines.pop(), "")
    assert.match(lines[0]!, /"chat_id":-9007199254740991\b/)
    const read = Schema.decodeUnknownEffect(Schema.fromJsonString(ChatStore.KnownChat))
    equals(yield* Effect.forEach(lines, (line) => read(line)), yield* Stream.runCollect(ChatStore.stream()))
    equals((yield* knownChatOf(largest))?.title, 'A "quoted"\ntitle 👋')
  })
]
