/**
 * Sends `TEXT` to all chats that `webhook.ts` came to know, under the name `NAME`: run it again, and it goes on where it
 * was. Chats that refuse are forgotten.
 */
import { Broadcast, ChatStore } from "@colloquy/core"
import { NodeBot, NodeInbox, NodeMain, NodeProgress, SqlBroadcastStore, SqlChatStore } from "@colloquy/node"
import { Config, Console, Effect, Layer, Option, Stream } from "effect"

const settings = Config.all({ name: Config.NonEmptyString("NAME"), text: Config.NonEmptyString("TEXT") })

const broadcast = Effect.gen(function* () {
  const { name, text } = yield* settings
  const total = yield* ChatStore.count()
  const recipients = ChatStore.stream().pipe(Stream.map(({ chat_id }) => chat_id))

  const sending = Broadcast.run({ name, recipients, total, message: { text } }).pipe(
    Broadcast.pruneUnreachable,
    Stream.runDrain
  )
  const showing = Broadcast.progress(name).pipe(NodeProgress.show({ title: name }), Stream.runLast)
  const [, end] = yield* Effect.all([sending, showing], { concurrency: 2 })

  const { Failed, Forbidden, NotFound, Sent } = Option.getOrThrow(end).counts
  yield* Console.log(`${Sent} got it, ${Forbidden + NotFound} refused and are forgotten, ${Failed} failed.`)
})

const stores = Layer.merge(SqlChatStore.layer(), SqlBroadcastStore.layer()).pipe(
  Layer.provide(NodeInbox.layerSqlConfig)
)

NodeMain.runMain(Effect.provide(broadcast, Layer.merge(stores, NodeBot.layerConfig())))
