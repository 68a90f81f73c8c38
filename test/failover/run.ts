/** Sends updates to a bot while the server of its inbox fails over, and compares what was confirmed with what was handled. */
import { Bot, Inbox, Journal, State, Update, Updates } from "@colloquy/core"
import type { InboxStore } from "@colloquy/core/inbox/InboxStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Scope from "effect/Scope"

/** An engine: its servers with a store, and what happens to the servers. */
export interface Failover {
  readonly make: Effect.Effect<
    {
      readonly store: Layer.Layer<InboxStore, unknown>
      readonly failOver: Effect.Effect<unknown, unknown>
    },
    unknown,
    Scope.Scope
  >
}

export interface Report {
  /** Updates that the store has confirmed, as a webhook confirms them to the platform. */
  readonly confirmed: number
  /** Confirmed updates that no handler has seen. */
  readonly lost: number
  /** Updates whose step ran again. */
  readonly repeated: number
  /** Chats whose updates were first seen in another order. */
  readonly outOfOrder: number
  /** Confirmed updates that the state of the bot does not have. */
  readonly missingInState: number
  /** The longest time in which the store confirmed nothing, in milliseconds. */
  readonly longestPause: number
}

const chats = 20

/** The numbers that were handled in a chat. */
const Handled = State.make("handled", Schema.Array(Schema.Int), { of: "chat", initial: () => [] })

const received = (number: number): Inbox.Received => {
  const user = { user_id: 1, first_name: "Ann", is_bot: false }
  const text = JSON.stringify({ update_type: "bot_started", timestamp: number, chat_id: 1 + (number % chats), user })
  return { decoded: Update.parse(text), text }
}

/** Runs a bot in this process, and fails over after half of the updates. */
export const run = Effect.fnUntraced(function* ({ make }: Failover, updates: number) {
  const { failOver, store } = yield* make
  const seen = new Map<number, number>()
  const order = new Map<number, Array<number>>()
  const bot = Bot.run(
    (update) =>
      Effect.gen(function* () {
        const number = "timestamp" in update ? update.timestamp : 0
        yield* Journal.step(
          "effect",
          Schema.Void,
          Effect.sync(() => {
            const count = (seen.get(number) ?? 0) + 1
            seen.set(number, count)
            if (count > 1) return
            const chat = number % chats
            order.set(chat, [...(order.get(chat) ?? []), number])
          })
        )
        yield* Handled.update((numbers) => (numbers.includes(number) ? numbers : [...numbers, number]))
      }),
    { concurrency: 16, retry: Schedule.spaced("1 second") }
  )
  let longestPause = 0
  const send = Effect.gen(function* () {
    const inbox = yield* Inbox.Inbox
    const clock = yield* Clock.Clock
    let last = clock.currentTimeMillisUnsafe()
    for (let number = 0; number < updates; number++) {
      if (number === Math.floor(updates / 2)) yield* Effect.forkChild(Effect.orDie(failOver))
      // The platform delivers an update again that was not confirmed.
      yield* Effect.retry(inbox.receive([received(number)]), Schedule.spaced("200 millis"))
      const now = clock.currentTimeMillisUnsafe()
      longestPause = Math.max(longestPause, now - last)
      last = now
      yield* Effect.sleep("10 millis")
    }
  })
  const settled = Inbox.Inbox.use(({ stats }) =>
    Effect.repeat(Effect.retry(stats, Schedule.spaced("200 millis")), {
      until: ({ queued }) => queued === 0,
      schedule: Schedule.spaced("200 millis")
    })
  )
  const values = Stream.runCollect(State.stream(Handled))
  const everything = Effect.andThen(Effect.andThen(send, settled), values)
  const layer = Updates.layer(Stream.never).pipe(Layer.provideMerge(Inbox.layer()), Layer.provideMerge(store))
  const entries = yield* Effect.raceFirst(everything, Effect.andThen(bot, Effect.never)).pipe(
    Effect.provide(layer),
    Effect.timeout("3 minutes")
  )
  const inState = entries.flatMap(({ value }) => (value._tag === "Success" ? value.success : []))
  const isOrdered = (numbers: ReadonlyArray<number>) =>
    numbers.every((number, at) => at === 0 || numbers[at - 1]! < number)
  return {
    confirmed: updates,
    lost: updates - seen.size,
    repeated: [...seen.values()].filter((count) => count > 1).length,
    outOfOrder: [...order.values()].filter((numbers) => !isOrdered(numbers)).length,
    missingInState: updates - new Set(inState).size,
    longestPause
  } satisfies Report
}, Effect.scoped)
