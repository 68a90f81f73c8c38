import type { StoreError } from "@colloquy/core/base/StoreError"
import type { Inbox } from "@colloquy/core/inbox/Inbox"
import * as Operations from "@colloquy/core/tools/Operations"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Refused } from "./refused.ts"

/** `1 dead letter`, `2 dead letters`. */
export const lettersOf = (count: number): string => `${count} dead letter${count === 1 ? "" : "s"}`

/** Replays many dead letters, as long as the scope is open. At most one replay runs at a time. */
export const makeReplay = Effect.map(Effect.scope, (scope) => {
  let last:
    | { readonly progress: { readonly total: number; done: number }; readonly fiber: Fiber.Fiber<void> }
    | undefined
  const running = () => (last?.fiber.pollUnsafe() === undefined ? last : undefined)

  return {
    /** The progress of the replay that runs. */
    progress: () => running()?.progress,

    /** Begins to replay the dead letters of a filter, and returns how many there are. */
    start: Effect.fnUntraced(function* (filter: Operations.DeadLetterFilter, rate: number) {
      // The ids are read before anything changes: a replayed update may fail at once, and be a dead letter again.
      const ids = yield* Stream.runCollect(Stream.map(Operations.deadLetters(filter), ({ id }) => id))
      if (running() !== undefined) {
        return yield* new Refused({ status: 409, message: "A replay is running. Stop it first." })
      }
      const progress = { total: ids.length, done: 0 }
      const advance = (part: ReadonlyArray<string>): Effect.Effect<number, StoreError, Inbox> =>
        Effect.tap(Operations.takeDeadLetters("replay", part), () => Effect.sync(() => (progress.done += part.length)))
      const work = Operations.paced(ids, rate, advance).pipe(
        Effect.onExit((exit) => {
          const end = Exit.isSuccess(exit) ? "finished" : Exit.hasInterrupts(exit) ? "stopped" : "failed"
          const reason = Option.match(Exit.findErrorOption(exit), {
            onNone: () => "",
            onSome: ({ message }) => ` ${message}`
          })
          return Effect.logInfo(
            `Board: the replay of ${lettersOf(ids.length)} ${end} after ${progress.done} of them.${reason}`
          )
        }),
        Effect.ignore
      )
      last = { progress, fiber: yield* Effect.forkIn(work, scope) }
      return ids.length
    }),

    /** Stops the replay that runs, and returns how many dead letters it has replayed. */
    stop: Effect.suspend(() => {
      const current = running()
      return current === undefined
        ? Effect.fail(new Refused({ status: 409, message: "No replay is running." }))
        : Effect.as(Fiber.interrupt(current.fiber), current.progress.done)
    })
  }
})

export type Replay = Effect.Success<typeof makeReplay>
