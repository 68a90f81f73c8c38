import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type { Listener, ConnectionLost, Request, Response, Handler } from "../../EmulatorHttp.ts"
import { bytesBody, textBody } from "../http/wire.ts"
import type { SteppedClock } from "./clock.ts"
import type { Entry, Journal } from "./journal.ts"

/**
 * Polls are not replayed, so that a bot that connects after the replay receives all updates. Moves of the clock are not
 * replayed, because the times of the requests move it.
 */
const isReplayed = ({ listener, method, path }: Entry): boolean =>
  !(listener === "api" && ((method === "GET" && path === "/updates") || path === "/_emulator/clock"))

const requestOf = (entry: Entry, uploads: Listener["uploads"]): Request => {
  const { body, bytes, listener: kind, headers, method, path, query } = entry
  const file = bytes === undefined ? undefined : Result.getOrUndefined(Base64.decode(bytes))
  return {
    method,
    path,
    query,
    headers,
    body: file === undefined ? textBody(body ?? "") : bytesBody(file),
    listener: { kind, uploads }
  }
}

const endOf = ({ at, took }: Entry): number => at + took

/** A request without an immediate response. */
interface PendingCall {
  readonly entry: Entry
  readonly response: Fiber.Fiber<Response, ConnectionLost>
}

/** Maximum time for a response that is due, in real time. */
const responseTimeout = "2 seconds"

/** Repeats the requests of a journal, each at its time. Returns how many had a different status. */
export const replay = Effect.fnUntraced(function* (
  { entries }: Journal,
  handle: Handler,
  clock: SteppedClock,
  uploads: Listener["uploads"]
) {
  let different = 0
  let pending: ReadonlyArray<PendingCall> = []

  const compare = ({ status }: Entry, exit: Exit.Exit<Response, ConnectionLost>) => {
    if ((Exit.isSuccess(exit) ? exit.value.status : null) !== status) different++
  }

  /** Moves the clock. Pending requests end at the time at which they ended. */
  const advanceTo = Effect.fnUntraced(function* (time: number) {
    const due = pending.filter(({ entry }) => endOf(entry) <= time)
    pending = pending.filter(({ entry }) => endOf(entry) > time)
    for (const { response, entry } of due.toSorted((a, b) => endOf(a.entry) - endOf(b.entry))) {
      yield* clock.moveTo(endOf(entry))
      const ended = Effect.timeoutOption(Fiber.await(response), responseTimeout)
      if (entry.status !== null) yield* Effect.provideService(ended, Clock.Clock, clock.system)
      yield* Fiber.interrupt(response)
      compare(entry, yield* Fiber.await(response))
    }
    yield* clock.moveTo(time)
  })

  for (const entry of entries.filter(isReplayed)) {
    yield* advanceTo(entry.at)
    const response = handle(requestOf(entry, uploads))
    if (entry.took === 0 && entry.status !== null) compare(entry, yield* Effect.exit(response))
    else {
      const fiber = yield* Effect.forkChild(response, { startImmediately: true })
      pending = [...pending, { entry, response: fiber }]
    }
  }
  yield* advanceTo(entries.reduce((end, entry) => Math.max(end, endOf(entry)), 0))
  return different
})
