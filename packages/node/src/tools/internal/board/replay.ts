import type { StoreError } from "@colloquy/core/base/StoreError"
import type { Inbox } from "@colloquy/core/inbox/Inbox"
import * as Operations from "@colloquy/core/tools/Operations"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Refused } from "./refused.ts"

/** The last replay of many dead letters that a board has begun. */
export interface Replay {
  last: { readonly total: number; done: number; readonly fiber: Fiber.Fiber<void> } | undefined
}

/** `1 dead letter`, `2 dead letters`. */
export const lettersOf = (count: number): string => `${count} dead letter${count === 1 ? "" : "s"}`

const isRunning = ({ last }: Replay): boolean => last !== undefined && last.fiber.pollUnsafe() === undefined

/** The progress of the replay that runs. */
export const replayOf = (replay: Replay) =>
  replay.last === undefined || !isRunning(replay) ? undefined : { total: replay.last.total, done: replay.last.done }

/** Begins to replay the selected dead letters. The replay goes on after the response, until the scope closes. */
export const startReplay = Effect.fnUntraced(function* (
  replay: Replay,
  filter: Operations.DeadLetterFilter,
  rate: number,
  scope: Scope.Scope
) {
  // The ids are read before anything changes: a replayed update may fail at once, and be a dead letter again.
  const ids = yield* Stream.runCollect(Stream.map(Operations.deadLetters(filter), ({ id }) => id))
  if (isRunning(replay)) return yield* new Refused({ status: 409, message: "A replay is running. Stop it first." })
  let done = 0
  const advance = (part: ReadonlyArray<string>): Effect.Effect<number, StoreError, Inbox> =>
    Effect.tap(Operations.takeDeadLetters("replay", part), () =>
      Effect.sync(() => {
        done += part.length
        if (replay.last !== undefined) replay.last.done = done
      })
    )
  const work = Operations.paced(ids, rate, advance).pipe(
    Effect.onExit((exit) => {
      const end = Exit.isSuccess(exit) ? "finished" : Exit.hasInterrupts(exit) ? "stopped" : "failed"
      const reason = Option.match(Exit.findErrorOption(exit), {
        onNone: () => "",
        onSome: ({ message }) => ` ${message}`
      })
      return Effect.logInfo(`Board: the replay of ${lettersOf(ids.length)} ${end} after ${done} of them.${reason}`)
    }),
    Effect.ignore
  )
  const fiber = yield* Effect.forkIn(work, scope)
  replay.last = { total: ids.length, done: 0, fiber }
  return ids.length
})

/** Stops the replay. Returns the number of dead letters that it has replayed. */
export const stopReplay = (replay: Replay) =>
  Effect.suspend(() =>
    replay.last === undefined || !isRunning(replay)
      ? Effect.fail(new Refused({ status: 409, message: "No replay is running." }))
      : Effect.as(Fiber.interrupt(replay.last.fiber), replay.last.done)
  )
