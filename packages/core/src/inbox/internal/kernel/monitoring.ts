import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { annotationsOf } from "../consumer/annotations.ts"
import type { Consumer } from "./consumer.ts"
import type { Queued } from "./delivery.ts"
import type { Kernel } from "./kernel.ts"

/** Deliveries that were emitted before a time, and are not settled. They are returned once. */
const lateIn = (kernel: Kernel<Queued>, before: number): ReadonlyArray<Queued> => {
  const late: Array<Queued> = []
  for (const { begun } of kernel.state.byKey.values()) {
    for (const update of begun) {
      const { delivery, isReported, state } = update
      if ((state !== "open" && state !== "settling") || isReported) continue
      if (delivery.emittedAt < 0 || delivery.emittedAt > before) continue
      kernel.reported(update)
      late.push(delivery)
    }
  }
  return late
}

/** The metrics and warnings of a consumer while updates are claimed or handled. An idle consumer reads nothing. */
export const make = ({ clock, inbox, kernel, metrics, turns }: Consumer, unsettledAfter: Duration.Duration) => {
  /** Open while partitions are claimed or handled. */
  const activity = Latch.makeUnsafe(true)
  /** Whether partitions were claimed since the statistics were read. */
  let hasClaimed = false

  /** Reading the statistics updates the gauges of the inbox. */
  const refreshMetrics = Effect.gen(function* () {
    for (;;) {
      yield* activity.await
      yield* Effect.sleep("15 seconds")
      if (!hasClaimed && kernel.state.size === 0) activity.closeUnsafe()
      hasClaimed = false
      yield* Effect.ignore(inbox.stats)
    }
  })

  const after = Duration.toMillis(unsettledAfter)
  const warnOfUnsettled = Effect.gen(function* () {
    for (;;) {
      yield* activity.await
      yield* Effect.sleep(after / 4)
      const late = lateIn(kernel, clock.currentTimeMillisUnsafe() - after)
      for (const { value } of late) {
        metrics.unsettled(value)
        const message =
          `A delivery was not settled within ${Duration.format(unsettledAfter)}. Later updates of its chat can ` +
          "wait for it. Every delivery needs one of ack, retry and reject."
        yield* Effect.annotateLogs(Effect.logWarning(message), annotationsOf(value))
      }
      if (late.length > 0) turns.turn()
    }
  })

  return {
    run: Number.isFinite(after)
      ? Effect.all([refreshMetrics, warnOfUnsettled], { concurrency: 2, discard: true })
      : refreshMetrics,
    onClaimed: (): void => {
      hasClaimed = true
      activity.openUnsafe()
    }
  }
}
