import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Pull from "effect/Pull"
import * as Outage from "../../../client/Outage.ts"
import type { ClaimedPartition, Queued } from "./partitions.ts"
import { makeWaiter } from "./waiter.ts"

/** The reason why a bot has to end is no defect of the program. */
const withOutage = <E>(cause: Cause.Cause<E>): Cause.Cause<E> => {
  const error = Outage.errorIn(cause)
  return error === undefined ? cause : (Cause.fail(error) as Cause.Cause<unknown> as Cause.Cause<E>)
}

/** The deliveries that wait until they are pulled. `onPulled` is called when more deliveries may be emitted. */
export const makeDeliveryQueue = <E>(clock: Clock.Clock, onPulled: () => void) => {
  let waiting: Array<Queued> = []
  let ended: Exit.Exit<void, E> | undefined

  const { until, wake } = makeWaiter(() => waiting.length > 0 || ended !== undefined)

  const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Queued>, E> = Effect.suspend(() => {
    const emitted = waiting
    if (Arr.isArrayNonEmpty(emitted)) {
      const now = clock.currentTimeMillisUnsafe()
      for (const queued of emitted) queued.emittedAt = now
      waiting = []
      onPulled()
      return Effect.succeed(emitted)
    }
    if (ended !== undefined) return Exit.isFailure(ended) ? Effect.failCause(ended.cause) : Cause.done()
    return Effect.andThen(until, pull)
  })

  return {
    pull,
    size: (): number => waiting.length,
    /** Adds a delivery. The delivery is emitted after `wake`. */
    add: (queued: Queued): void => void waiting.push(queued),
    wake,
    /** Removes the deliveries of a partition. */
    remove: (partition: ClaimedPartition): void => {
      waiting = waiting.filter((queued) => queued.partition !== partition)
    },
    /** Removes and returns all deliveries. */
    clear: (): ReadonlyArray<Queued> => {
      const removed = waiting
      waiting = []
      return removed
    },
    /** Ends the stream of deliveries. */
    end: (exit: Exit.Exit<void, E>): void => {
      ended = Exit.isFailure(exit) ? Exit.failCause(withOutage(exit.cause)) : exit
      wake()
    }
  }
}
