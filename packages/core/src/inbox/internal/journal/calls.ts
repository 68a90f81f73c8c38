import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type { Created } from "../../../client/internal/journal/created.ts"
import type { Call, Past } from "../../../client/internal/journal/current.ts"
import type { QueuedUpdate } from "../../QueuedUpdate.ts"
import { monoNow } from "../consumer/lease.ts"
import type { Entries, JournalEntry } from "./entries.ts"
import type { Outcome } from "./metrics.ts"
import { dialogOf, repeated, type Started, startedNow, stillCarriedOutFor } from "./past.ts"
import { resolve } from "./recovery.ts"

export interface Options {
  readonly queued: QueuedUpdate
  readonly entries: Entries
  readonly clock: Clock.Clock
  readonly count: (outcome: Outcome) => void
  /** Writes the unwritten entries, in the next turn of the event loop. */
  readonly writeSoon: () => void
}

/** The calls of one update. Each is carried out in its slot, and its answer is recorded. */
export class Calls {
  readonly #options: Options
  /** The slots whose call is running. */
  readonly #running = new Map<string, Latch.Latch>()

  constructor(options: Options) {
    this.#options = options
  }

  get dialog(): Past["dialog"] {
    return dialogOf(this.#options.queued)
  }

  count(outcome: Outcome): void {
    this.#options.count(outcome)
  }

  /** Identifies a call, also if the update is claimed again by this process. */
  idOf(slot: string): string {
    return `${this.#options.queued.fingerprint} ${slot}`
  }

  /** Carries a call out, or returns its recorded answer. */
  call<A, E>(slot: string, call: Call<A, E>): Effect.Effect<A, E> {
    let latch: Latch.Latch | undefined
    const result = Effect.suspend((): Effect.Effect<A, E> => {
      const { entries } = this.#options
      // Only a fiber that an earlier attempt has left behind can still be running this call.
      const other = this.#running.get(slot)
      if (other !== undefined) return Effect.andThen(other.await, this.call(slot, call))
      const entry = entries.get(slot)
      if (entry?.state === "done") return this.replay(call, entry.text, "replayed")
      latch = Latch.makeUnsafe(false)
      this.#running.set(slot, latch)
      return entry === undefined ? this.carryOut(slot, call) : resolve(this, entries, call, entry)
    })
    // An interruption cannot come between the entry of the call and its removal.
    return Effect.onExitPrimitive(result, () => {
      if (latch === undefined) return undefined
      this.#running.delete(slot)
      latch.openUnsafe()
      return undefined
    })
  }

  replay<A, E>(call: Call<A, E>, text: string, outcome: Outcome): Effect.Effect<A, E> {
    this.count(outcome)
    return call.read(text)
  }

  /** Records that a call begins. */
  #begin<A, E>(slot: string, call: Call<A, E>, before: Started | undefined): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { clock, entries, queued } = this.#options
      const request = call.request?.()
      const { requests, ...started } = before === undefined ? startedNow(queued, call, clock) : repeated(before)
      const all = request === undefined || requests.includes(request) ? requests : [...requests, request]
      const entry: JournalEntry = { slot, state: "started", text: JSON.stringify({ ...started, requests: all }) }
      return Effect.map(entries.write(entry), () => entries.set(entry))
    })
  }

  carryOut<A, E>(slot: string, call: Call<A, E>, before?: Started): Effect.Effect<A, E> {
    const { entries, writeSoon } = this.#options
    let isBegun = false
    let end = () => {}
    const begin = Effect.suspend(() =>
      isBegun
        ? Effect.void
        : Effect.map(this.#begin(slot, call, before), () => {
            isBegun = true
            if (call.find !== undefined) end = call.platform!.created.begin(call.kind, call.chat_id)
          })
    )
    // If a repeated call is refused, the first call may have been carried out nevertheless.
    const isRefused = (cause: Cause.Cause<E>): boolean =>
      isBegun &&
      before === undefined &&
      cause.reasons.every((reason) => Cause.isFailReason(reason) && call.isRefusal(reason.error))
    // An interruption cannot come between the answer and its entry.
    const carriedOut = Effect.onExitPrimitive(call.run(begin, slot), (exit) => {
      if (Exit.isSuccess(exit)) {
        this.remember(slot, call, call.created?.(exit.value))
        // The answer is in memory first, because a handler that is interrupted now may run again in this process.
        entries.add({ slot, state: "done", text: call.write(exit.value) })
      } else if (isRefused(exit.cause)) entries.delete(slot)
      end()
      // Whoever looks the call up, also in another process, waits until the platform does not carry out the call any more.
      return isBegun && call.find !== undefined && Exit.hasInterrupts(exit)
        ? Effect.exit(this.#recordInterruption(slot))
        : undefined
    })
    return Effect.matchCauseEffect(carriedOut, {
      onSuccess: (answer) => {
        if (call.isWrittenAtOnce) return Effect.as(entries.write(), answer)
        writeSoon()
        return Effect.succeed(answer)
      },
      onFailure: (cause) => {
        const failed = Effect.failCause(cause)
        return isRefused(cause) ? Effect.andThen(entries.write({ slot, state: "removed", text: "" }), failed) : failed
      }
    })
  }

  #recordInterruption(slot: string): Effect.Effect<void> {
    const { clock, entries } = this.#options
    const started = JSON.parse(entries.get(slot)!.text) as Started
    const entry: JournalEntry = {
      slot,
      state: "started",
      text: JSON.stringify({ ...started, interruptedAt: clock.currentTimeMillisUnsafe() })
    }
    entries.add(entry)
    return entries.write()
  }

  /** Waits until the platform does not carry out an interrupted call any more. */
  awaitPlatform(started: Started): Effect.Effect<void> {
    return Effect.suspend(() => {
      const millis = stillCarriedOutFor(started, this.#options.clock.currentTimeMillisUnsafe())
      return millis === 0 ? Effect.void : Effect.sleep(millis)
    })
  }

  /** Remembers the message that a call has created, so that the look-up of another call does not adopt the message. */
  remember<A, E>(slot: string, { platform }: Call<A, E>, created: Created | undefined): void {
    if (created === undefined) return
    platform?.time.observe(created.at, monoNow(this.#options.clock))
    platform?.created.add(created, this.idOf(slot))
  }
}
