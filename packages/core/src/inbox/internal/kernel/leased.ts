import * as Effect from "effect/Effect"
import type { StoreError } from "../../../base/StoreError.ts"
import type { RowWrite, WriteResult } from "../../InboxStore.ts"
import type { Consumer } from "./consumer.ts"
import type { Queued } from "./delivery.ts"
import type { Partition } from "./partition.ts"

const confirmInterval = "100 millis"

/** The operations of effects on the lease of their chat. */
export class Leased {
  readonly #consumer: Consumer
  #waiting: Array<() => void> = []
  #renewals = 0

  constructor(consumer: Consumer) {
    this.#consumer = consumer
  }

  isValid(partition: Partition<Queued>): boolean {
    const { kernel, turns } = this.#consumer
    turns.tick()
    return kernel.leases.isValid(partition)
  }

  /** Renews the leases at once. Returns after the next renewal, also if the renewal fails. */
  readonly #renew = Effect.callback<void>((resume) => {
    const { kernel, turns } = this.#consumer
    this.#waiting.push(() => resume(Effect.void))
    turns.event(() => kernel.leases.request())
  })

  /** Lets those go on that wait for a renewal. Called after each turn. */
  onTurn(): void {
    const { leases, state } = this.#consumer.kernel
    const { renewals } = leases
    // After the stream has closed, nothing is renewed any more.
    if (this.#renewals === renewals && state.isOpen) return
    this.#renewals = renewals
    for (const resume of this.#waiting.splice(0)) resume()
  }

  /** Waits until the lease is certain. Interrupts if the partition is lost. */
  confirm(partition: Partition<Queued>): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (partition.isLost) return Effect.interrupt
      if (this.isValid(partition)) return Effect.void
      // A lease can stay doubtful until a claim is answered, also if time stands still between the renewals.
      const again = Effect.suspend(() =>
        this.isValid(partition) || partition.isLost
          ? this.confirm(partition)
          : Effect.andThen(Effect.sleep(confirmInterval), this.confirm(partition))
      )
      return Effect.andThen(this.#renew, again)
    })
  }

  /**
   * Writes rows of the journal of an update. Returns `"leaseLost"` if the partition is lost or the update is not
   * queued any more. The result `"leaseLost"` says nothing about the lease while the update is being acknowledged. A
   * store that has the lease of an update that is being handled, but not the update, has lost writes: the partition is
   * claimed again.
   */
  record(queued: Queued, rows: ReadonlyArray<RowWrite>): Effect.Effect<WriteResult, StoreError> {
    const { claimed, entry } = queued
    const { partition } = claimed
    const { kernel, store, turns } = this.#consumer
    const recorded: Effect.Effect<WriteResult, StoreError> = Effect.suspend(() => {
      const { key, owner } = partition
      const { leases } = kernel
      turns.tick()
      if (!partition.isLost && leases.canReturn(partition)) turns.event(() => leases.giveUp(partition))
      if (partition.isLost) return Effect.succeed("leaseLost")
      const journal = { owner, partitionKey: key, id: entry.id }
      return Effect.flatMap(store.write([{ rows, journal }]), ([result]) => {
        const isExpected = queued.outcome?._tag === "ack" || !kernel.state.isOpen || turns.isBroken
        if (result !== "leaseLost" || !store.isShared || isExpected) return Effect.succeed(result!)
        // The partition can have been claimed again by this process, under another name.
        if (partition.owner !== owner) return recorded
        return Effect.flatMap(this.#renew, () => {
          if (!partition.isLost && partition.owner !== owner) return recorded
          if (queued.outcome === undefined) turns.event(() => kernel.leases.giveUp(partition, owner))
          return Effect.succeed(result)
        })
      })
    })
    return recorded
  }
}
