import { Inbox, type Update, Updates } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as places from "./places.ts"

/** The update number `index`. */
export const received = (index: number, chat: number): Inbox.Received => ({
  decoded: Result.succeed<Update.Update>({
    ...Fixtures.botStarted(),
    chat_id: ChatId.make(1 + chat),
    timestamp: index
  })
})

/** The updates from `first`, in a number of chats that take turns. */
export const pageOf = (first: number, count: number, chats: number): ReadonlyArray<Inbox.Received> =>
  Array.from({ length: count }, (_, at) => received(first + at, (first + at) % chats))

/** The number of an update that {@link received} made. */
export const indexOf = (update: Update.Update): number => (update as Update.Of<"bot_started">).timestamp

/** Receives the updates from `first`, in pages. */
export const fill = (first: number, count: number, chats: number, page = 500) =>
  Inbox.Inbox.use((inbox) =>
    Effect.forEach(
      Array.from({ length: Math.ceil(count / page) }, (_, at) => at * page),
      (done) => inbox.receive(pageOf(first + done, Math.min(page, count - done), chats)),
      { discard: true }
    )
  )

/** Like {@link fill}, after a consumer of the inbox has ended, which closes the inbox, and before the next consumer. */
export const refill = (first: number, count: number, chats: number) =>
  Inbox.Inbox.use(({ store }) =>
    fill(first, count, chats).pipe(
      Effect.provide(Layer.fresh(Inbox.layer())),
      Effect.provideService(InboxStore.InboxStore, store)
    )
  )

/** The updates of an inbox, with a source that runs beside their handlers. */
export const layerSource = (
  source: (inbox: Inbox.Inbox["Service"]) => Effect.Effect<unknown, unknown>
): Layer.Layer<Updates.Updates, never, Inbox.Inbox> =>
  Layer.effect(
    Updates.Updates,
    Inbox.Inbox.use((inbox) =>
      Effect.succeed(Updates.Updates.of({ inbox, source: Effect.orDie(Effect.asVoid(source(inbox))) }))
    )
  )

/** The updates of an inbox that is already filled. */
export const layerFilled = layerSource(() => Effect.void)

/** A bot with the inbox of a place, and no source by default. */
export const layerBot = (
  place: places.Place,
  options?: Inbox.Options,
  source: Parameters<typeof layerSource>[0] = () => Effect.never
): Layer.Layer<Updates.Updates | Inbox.Inbox, unknown> =>
  Layer.provideMerge(layerSource(source), places.layerInbox(place, options))

/** A source that ends when the inbox is empty, also of the updates that belong to the lease of a process that died. */
export const untilEmpty = (inbox: Inbox.Inbox["Service"]) =>
  Effect.repeat(Effect.delay(inbox.stats, "100 millis"), { while: ({ queued }) => queued > 0 })
