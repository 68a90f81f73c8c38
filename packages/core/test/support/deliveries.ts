import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Inbox, Update, Updates } from "../../src/index.ts"
import * as InboxStore from "../../src/inbox/InboxStore.ts"

const received = (json: object): Inbox.Received => {
  const text = JSON.stringify(json)
  return { decoded: Update.parse(text), text }
}

export const started = (chat_id: number, timestamp: number) =>
  received({ update_type: "bot_started", timestamp, chat_id, user: { user_id: 1, first_name: "Ann", is_bot: false } })

/** A source that enqueues these updates, and then ends, unless `stays` is set. */
export const source = (updates: ReadonlyArray<Inbox.Received>, options: { readonly stays?: boolean } = {}) =>
  Layer.effect(
    Updates.Updates,
    Inbox.Inbox.use((inbox) =>
      Effect.succeed(
        Updates.Updates.of({
          inbox,
          source: Effect.andThen(
            Effect.orDie(inbox.receive(updates)),
            options.stays === true ? Effect.never : Effect.void
          )
        })
      )
    )
  )

export const within = (
  inbox: Layer.Layer<Inbox.Inbox, never, InboxStore.InboxStore>,
  from: ReturnType<typeof source>
) => Layer.provideMerge(from, inbox).pipe(Layer.provideMerge(InboxStore.layerMemory))

export const timeOf = (update: Update.Update): number => ("timestamp" in update ? update.timestamp : 0)
export const chatOf = (update: Update.Update): number => ("chat_id" in update ? update.chat_id : 0)

/** The updates, the oldest first. Each is acknowledged as soon as it is emitted. */
export const emitted = Stream.mapEffect(Updates.deliveries({ maxInMemory: 1 }), ({ ack, value }) =>
  Effect.as(Effect.orDie(ack), value)
)

/** Advances the test clock until a program ends. */
export const inTime = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(program, Effect.forever(TestClock.adjust("1 second")))

type Store = InboxStore.InboxStore["Service"]

/** A store in memory with modified operations. */
export const storeOver = (modify: (store: Store) => Partial<Store>) =>
  Layer.effect(
    InboxStore.InboxStore,
    InboxStore.InboxStore.use((store) => Effect.succeed({ ...store, ...modify(store) }))
  ).pipe(Layer.provide(InboxStore.layerMemory))

/** An inbox in memory with modified operations of its store. */
export const inboxOver = (modify: (store: Store) => Partial<Store> = () => ({}), options?: Inbox.Options) =>
  Layer.provide(Inbox.layer(options), storeOver(modify))
