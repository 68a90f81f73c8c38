/** Programs of one bot, one after the other, with the same inbox. */
import { Bot, BotApi, type Handler, Inbox, LongPolling, RateLimiter } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"

export const token = "test-token"

/** The platform, and the inbox that the programs share. */
export const platform = Layer.merge(Emulator.layer({ token }), InboxStore.layerMemory)

const program = (limits: RateLimiter.Options) =>
  LongPolling.layer().pipe(
    Layer.provideMerge(BotApi.layer({ token: Redacted.make(token), baseUrl: Emulator.baseUrl })),
    Layer.provide(RateLimiter.layerMemory(limits)),
    Layer.provideMerge(Inbox.layer()),
    Layer.fresh
  )

/** Waits until every update is handled. */
export const settled = Effect.gen(function* () {
  const { stats } = yield* InboxStore.InboxStore
  yield* TestClock.adjust("3 seconds")
  yield* Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), stats), {
    until: ({ queued }) => queued === 0,
    times: 300
  })
})

/** Starts a program of the bot, does something, waits until every update is handled, and stops the program. */
export const during = <E, A, E2, R2>(
  handler: Handler.Handler<E, BotApi.BotApi | Inbox.Inbox>,
  what: Effect.Effect<A, E2, R2>,
  limits: RateLimiter.Options = RateLimiter.unlimited
) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.provide(Bot.run(handler), program(limits)), {
      startImmediately: true
    })
    yield* TestClock.adjust("1 second")
    const result = yield* what
    yield* settled
    yield* Fiber.interrupt(fiber)
    return result
  })
