/**
 * A process that upserts every second update of 20 chats, from the first or the second one: `node chatWriter.ts STORE PLACE 0|1 UPDATES`.
 */
import { ChatStore } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { stores } from "./chatStores.ts"

const [store = "", place = "", first = "0", updates = "0"] = process.argv.slice(2)

const program = Stream.range(0, Number(updates) - 1).pipe(
  Stream.filter((index) => index % 2 === Number(first)),
  Stream.rechunk(7),
  Stream.map((index) => ({
    update_type: "chat_title_changed" as const,
    timestamp: Fixtures.timestamp + index,
    chat_id: ChatId.make((index % 20) - 10),
    user: Fixtures.user(),
    title: `Title ${index}`
  })),
  ChatStore.track,
  Stream.runDrain
)

await Effect.runPromise(Effect.provide(program, stores[store]!(place)))
