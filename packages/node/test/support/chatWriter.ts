/**
 * A process that upserts every second update of 20 chats, from the first or the second one, and increments a counter in
 * the data of each chat: `node chatWriter.ts STORE PLACE 0|1 UPDATES`.
 */
import { ChatData, ChatStore } from "@colloquy/core"
import { ChatId } from "@colloquy/core/Chat"
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { stores } from "./chatStores.ts"

const [store = "", place = "", first = "0", updates = "0"] = process.argv.slice(2)

const Count = ChatData.make("count", Schema.Int)

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
  Stream.mapEffect(
    ({ chat_id }) => Count.update(chat_id, Option.match({ onNone: () => 1, onSome: (count) => count + 1 })),
    { concurrency: 3 }
  ),
  Stream.runDrain
)

await Effect.runPromise(Effect.provide(program, stores[store]!(place)))
