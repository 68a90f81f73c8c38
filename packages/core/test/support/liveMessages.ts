/** Bots whose messages grow while people do something. */
import { Handler, Keyboard, LiveMessage, LongPolling, RateLimiter, type Update } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

export const layer = LongPolling.layer().pipe(
  Layer.provideMerge(Emulator.layerBot({ clientLimits: RateLimiter.defaults }))
)

export const stop = Keyboard.make([LiveMessage.stopButton("Stop")])

/** Emits a token each `every` milliseconds. */
export const ticking = (tokens: ReadonlyArray<string>, every: number) =>
  Stream.fromIterable(tokens).pipe(Stream.rechunk(1), Stream.schedule(Schedule.spaced(every)))

export const words = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `word${from + index} `)

export const seconds = (count: number) => TestClock.adjust(`${count} seconds`)

/** Runs a bot beside what a person does. */
export const withBot = <E, R, E2, R2, A>(bot: Effect.Effect<void, E, R>, act: Effect.Effect<A, E2, R2>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
    yield* TestClock.adjust(100)
    const result = yield* act
    yield* Fiber.interrupt(fiber)
    return result
  })

/** Ann, her dialog, and the handler of a bot that answers her messages, with what became of its answers. */
export const asking = <E, R>(
  answer: (update: Update.Of<"message_created">) => Effect.Effect<LiveMessage.Result, E, R>
) =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    const dialog = yield* ann.start()
    const results: Array<LiveMessage.Result> = []
    const outcomes: Array<LiveMessage.Outcome> = []
    const handler = Handler.on("message_created", (update) =>
      Effect.map(answer(update), (result) => {
        results.push(result)
        outcomes.push(result.outcome)
      })
    )
    return { ann, dialog, handler, outcomes, results }
  })

/** The messages of the bot in a chat. */
export const ofBot = Effect.fnUntraced(function* (chat: Parameters<typeof Emulator.messages>[0]) {
  const messages = yield* Emulator.messages(chat)
  return messages.filter(({ sender }) => sender?.is_bot === true)
})

export const textsOfBot = (chat: Parameters<typeof Emulator.messages>[0]) =>
  Effect.map(ofBot(chat), (messages) => messages.map(({ body }) => body?.text))

/** The number of attachments of a message. */
export const buttonsOf = (message: {
  readonly body?: { readonly attachments?: ReadonlyArray<unknown> | null } | null
}) => message.body?.attachments?.length ?? 0

/** The texts of the edits that people have seen. */
export const edits = Effect.map(Emulator.seen, (seen) =>
  seen.flatMap((event) => (event._tag === "Edited" ? [event.message.body?.text ?? ""] : []))
)
