/**
 * Sends `TEXT` to all chats that `webhook.ts` has stored, as the broadcast `NAME`. If it is stopped, run it again with the
 * same name to continue. Chats that refuse the message are removed from the store.
 */
import { Broadcasts, ChatStore } from "@colloquy/core"
import { NodeBot, NodeInbox, NodeMain, NodeProgress, SqlBroadcastStore, SqlChatStore } from "@colloquy/node"
import { Config, Console, Effect, Layer, Option, Stream } from "effect"

const settings = Config.all({ name: Config.NonEmptyString("NAME"), text: Config.NonEmptyString("TEXT") })

const broadcast = Effect.gen(function* () {
  const { name, text } = yield* settings
  const total = yield* ChatStore.count()
  const recipients = ChatStore.stream().pipe(Stream.map(({ chat_id }) => chat_id))

  const send = Broadcasts.run({ name, recipients, total, message: { text } }).pipe(
    Broadcasts.pruneUnreachable,
    Stream.runDrain
  )
  const showProgress = Broadcasts.progress(name).pipe(NodeProgress.show({ title: name }), Stream.runLast)
  const [, last] = yield* Effect.all([send, showProgress], { concurrency: 2 })

  const { Failed, Forbidden, NotFound, Sent } = Option.getOrThrow(last).counts
  yield* Console.log(`Sent: ${Sent}, refused and removed: ${Forbidden + NotFound}, failed: ${Failed}.`)
})

const stores = Layer.merge(SqlChatStore.layer(), SqlBroadcastStore.layer()).pipe(
  Layer.provide(NodeInbox.layerSqlConfig())
)

NodeMain.runMain(Effect.provide(broadcast, Layer.merge(stores, NodeBot.layerConfig())))
