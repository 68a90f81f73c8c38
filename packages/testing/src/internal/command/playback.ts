import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type { Listener, ConnectionLost, Request, Response, Handler } from "../../EmulatorHttp.ts"
import { ofBytes, ofText } from "./bodies.ts"
import type { SteppedClock } from "./clock.ts"
import type { Entry, Journal } from "./journal.ts"

/**
 * Polls are left out: who connects after a playback gets all the updates from the first one on. Moves of the clock are
 * left out as well: the times of the calls move it.
 */
const isPlayed = ({ door, method, path }: Entry): boolean =>
  !(door === "api" && ((method === "GET" && path === "/updates") || path === "/_emulator/clock"))

const requestOf = (entry: Entry, uploads: Listener["uploads"]): Request => {
  const { body, bytes, door, headers, method, path, query } = entry
  const file = bytes === undefined ? undefined : Result.getOrUndefined(Base64.decode(bytes))
  return {
    method,
    path,
    query,
    headers,
    body: file === undefined ? ofText(body ?? "") : ofBytes(file),
    listener: { kind: door, uploads }
  }
}

const endOf = ({ at, took }: Entry): number => at + took

/** A call that was not answered at once. */
interface UnderWay {
  readonly entry: Entry
  readonly answering: Fiber.Fiber<Response, ConnectionLost>
}

/** How long a call that was answered may take to come to its end, once its time is there. */
const patience = "2 seconds"

const onWall = <A>({ wall }: SteppedClock, effect: Effect.Effect<A>) => Effect.provideService(effect, Clock.Clock, wall)

/** Makes the calls of a journal again, each at its time; tells how many were answered with another status. */
export const playBack = (
  { entries }: Journal,
  handle: Handler,
  clock: SteppedClock,
  uploads: Listener["uploads"]
): Effect.Effect<number> =>
  Effect.gen(function* () {
    let different = 0
    let underWay: ReadonlyArray<UnderWay> = []

    const compare = ({ status }: Entry, exit: Exit.Exit<Response, ConnectionLost>) => {
      if ((Exit.isSuccess(exit) ? exit.value.status : null) !== status) different++
    }

    /** Moves the clock; what is under way ends when it ended. */
    const goTo = Effect.fnUntraced(function* (time: number) {
      const due = underWay.filter(({ entry }) => endOf(entry) <= time)
      underWay = underWay.filter(({ entry }) => endOf(entry) > time)
      for (const { answering, entry } of due.toSorted((a, b) => endOf(a.entry) - endOf(b.entry))) {
        yield* clock.moveTo(endOf(entry))
        if (entry.status !== null) yield* onWall(clock, Effect.timeoutOption(Fiber.await(answering), patience))
        yield* Fiber.interrupt(answering)
        compare(entry, yield* Fiber.await(answering))
      }
      yield* clock.moveTo(time)
    })

    for (const entry of entries.filter(isPlayed)) {
      yield* goTo(entry.at)
      const answering = handle(requestOf(entry, uploads))
      if (entry.took === 0 && entry.status !== null) compare(entry, yield* Effect.exit(answering))
      else {
        const fiber = yield* Effect.forkChild(answering, { startImmediately: true })
        underWay = [...underWay, { entry, answering: fiber }]
      }
    }
    yield* goTo(entries.reduce((end, entry) => Math.max(end, endOf(entry)), 0))
    return different
  })
