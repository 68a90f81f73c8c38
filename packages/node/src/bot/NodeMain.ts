/**
 * Runs a bot as the main program of a process.
 *
 * @since 0.1.0
 */
import { fromConfigError } from "@colloquy/core/client/Settings"
import { reasonOf } from "@colloquy/core/base/StoreError"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"

const signals = { SIGINT: 2, SIGTERM: 15 } as const

/** An error without a message is described by its stack trace only. */
const isTold = (error: unknown): error is { readonly _tag: unknown; readonly message: unknown } =>
  Predicate.hasProperty(error, "_tag") && Predicate.hasProperty(error, "message") && error.message !== ""

const logFailure = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const error = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || !Runtime.getErrorReported(error)) return Effect.void
  const told = error instanceof Config.ConfigError ? fromConfigError(error) : error
  const reasons = cause.reasons.filter((reason) => !Cause.isInterruptReason(reason))
  return reasons.length === 1 && Cause.hasFails(cause) && isTold(told)
    ? Effect.logError(`${String(told._tag)}: ${reasonOf(told)}`)
    : Effect.logError(cause)
}

const run = Runtime.makeRunMain(({ fiber, teardown }) => {
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

/**
 * Runs a program until it ends or the process receives a signal.
 *
 * SIGTERM and SIGINT stop the program gracefully: the readiness check of the webhook returns 503, and deliveries are stored until its
 * server closes; running handlers get their shutdown timeout; all other updates stay in the inbox. The process then exits with 0. A
 * second signal ends the process at once, with the exit code 128 plus the number of the signal.
 *
 * If the program fails, the process exits with 1. An error with a tag and a message is logged as by `StoreError.reasonOf`, without
 * its stack trace. Other errors, several errors and defects are logged with their stack traces.
 *
 * **Example** (Run a bot)
 *
 * ```ts
 * import { Bot, LongPolling } from "@colloquy/core"
 * import { NodeBot, NodeMain } from "@colloquy/node"
 * import { Effect, Layer } from "effect"
 *
 * const updates = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))
 *
 * const bot = Bot.run((update) => Effect.log(update.update_type)).pipe(Effect.provide(updates))
 *
 * export const main = () => NodeMain.runMain(bot)
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const runMain = <A, E>(program: Effect.Effect<A, E>): void =>
  run(Effect.tapCause(program, logFailure), { disableErrorReporting: true })
