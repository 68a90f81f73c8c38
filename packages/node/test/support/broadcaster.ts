/**
 * A process that sends a broadcast to chats, and writes a dot for each outcome: `node broadcaster.ts FILE URL CHATS`, the
 * chats as JSON.
 */
import { Broadcasts } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import { NodeBot, NodeSqlite, SqlBroadcastStore } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const [filename = "", baseUrl = "", chats = "[]"] = process.argv.slice(2)

const recipients = Stream.fromIterable((JSON.parse(chats) as ReadonlyArray<number>).map((id) => ChatId.make(id)))

const program = Broadcasts.run({ name: "news", recipients, message: { text: "News!" } }).pipe(
  Stream.runForEach(() => Effect.sync(() => process.stdout.write(".")))
)

const bot = NodeBot.layer({ token: "token", baseUrl, limits: { host: { count: 200, window: 1000 } } })

const store = SqlBroadcastStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename })))

await Effect.runPromise(Effect.provide(program, Layer.merge(bot, store)))
