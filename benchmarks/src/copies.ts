import { LongPolling, Messages, Updates } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import type { Measured } from "./figure.ts"
import { byPolling, byWebhook, type Copies } from "./once/grammy.ts"

const failures = 5

const platform = LongPolling.layer().pipe(
  Layer.provideMerge(Emulator.layerBot()),
  Layer.provideMerge(TestClock.layer()),
  Layer.merge(Logger.layer([]))
)

const ourCopies = (): Promise<Copies> =>
  Effect.gen(function* () {
    const visitor = yield* Emulator.user("Ann")
    const dialog = yield* visitor.start()
    yield* visitor.send("An order")
    let attempts = 0
    const bot = Updates.run(
      Updates.on("message_created", (update) =>
        Effect.andThen(
          Messages.reply(update, "Order accepted"),
          Effect.suspend(() => (++attempts <= failures ? Effect.fail("not yet") : Effect.void))
        )
      )
    )
    yield* Effect.forkScoped(bot)
    yield* TestClock.adjust("5 minutes")
    const seen = (yield* Emulator.messages(dialog)).filter(({ body }) => body?.text === "Order accepted")
    if (attempts !== failures + 1) throw new Error(`The handler ran ${attempts} times`)
    return { copies: seen.length, attempts }
  }).pipe(Effect.scoped, Effect.provide(platform), Effect.runPromise)

const describe = ({ attempts, copies }: Copies) => `${copies} after ${attempts} attempts`

/** Counts the copies of a message whose handler fails after it was sent, in virtual time, and those of grammY. */
export const copies = async (): Promise<Measured> => {
  const ours = await ourCopies()
  const detail = [
    `Colloquy ${describe(ours)}`,
    `grammY by a webhook ${describe(await byWebhook(failures))}`,
    `grammY by long polling ${describe(await byPolling(failures))}`
  ].join(", ")
  return { value: ours.copies, detail }
}
