/**
 * Runs a bot as the main program of a process.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"

const signals = { SIGINT: 2, SIGTERM: 15 } as const

/**
 * Runs a program until it ends or the process receives a signal.
 *
 * SIGTERM and SIGINT stop the program gracefully: the webhook answers deliveries with 503, so that the platform sends them
 * again; running handlers get their shutdown timeout; all other updates stay in the inbox. The process then exits with 0. A
 * second signal ends the process at once, with the exit code 128 plus the number of the signal. If the program fails, the
 * error is logged and the process exits with 1.
 *
 * **Example** (Run a bot)
 *
 * ```ts
 * import { LongPolling, Updates } from "@colloquy/core"
 * import { NodeBot, NodeMain } from "@colloquy/node"
 * import { Effect, Layer } from "effect"
 *
 * const updates = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))
 *
 * const bot = Updates.run((update) => Effect.log(update.update_type)).pipe(Effect.provide(updates))
 *
 * export const main = () => NodeMain.runMain(bot)
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const runMain: <A, E>(program: Effect.Effect<A, E>) => void = Runtime.makeRunMain(({ fiber, teardown }) => {
  let isStopping = false
  const onSignal = (signal: keyof typeof signals) => {
    if (isStopping) process.exit(128 + signals[signal])
    isStopping = true
    fiber.interruptUnsafe(fiber.id)
  }
  for (const signal of Object.keys(signals)) process.on(signal, onSignal)
  fiber.addObserver((exit) => {
    for (const signal of Object.keys(signals)) process.off(signal, onSignal)
    if (isStopping && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) process.exit(0)
    teardown(exit, (code) => {
      if (isStopping || code !== 0) process.exit(code)
    })
  })
})
