/** Defects of how updates are stored, claimed, handled and settled. */
import type { Defect } from "./defect.ts"

const handlers = ["handlers"]

const pipelines = ["pipelines"]

export const inboxDefects: ReadonlyArray<Defect> = [
  {
    name: "a process that has nothing to do asks the store all the time",
    file: "inbox/internal/consumer/polling.ts",
    find: "const idlePollInterval = 5000",
    replace: "const idlePollInterval = 50",
    programs: handlers
  },
  {
    name: "a commit without the fence",
    file: "inbox/internal/store/memoryPartitions.ts",
    find: "return partition?.owner === owner ? partition : undefined",
    replace: "return partition",
    programs: handlers
  },
  {
    name: "a renewal that ignores the renewed partitions",
    file: "inbox/internal/consumer/renewal.ts",
    find: "else if (lease.releasing === undefined) {",
    replace: "else if (lease.key === undefined) {",
    programs: ["handlers", "live"]
  },
  {
    name: "leases are renewed after they have ended",
    file: "inbox/internal/consumer/renewal.ts",
    find: "const renewalsPerLease = 3",
    replace: "const renewalsPerLease = 0.5",
    programs: ["handlers", "live"]
  },
  {
    name: "a renewal that fails ends all renewals",
    file: "inbox/internal/consumer/renewal.ts",
    find: "yield* Effect.result(renewAll)",
    replace: "yield* Effect.result(Effect.orDie(renewAll))",
    programs: ["handlers", "live"]
  },
  {
    name: "a lease that is valid until its loss is reported",
    file: "inbox/internal/consumer/lease.ts",
    find: "!isShared || (!isLost && clock.currentTimeMillisUnsafe() - wall < validFor && monoNow(clock) - mono < validFor)",
    replace: "!isLost",
    programs: ["handlers", "live"]
  },
  {
    name: "a lost wake-up: a fiber looks, and registers later",
    file: "inbox/internal/consumer/waiter.ts",
    find: "if (isReady()) return done(Effect.void)",
    replace: "if (waiting === undefined && isReady === undefined) return done(Effect.void)",
    programs: ["handlers", "pipelines"]
  },
  {
    name: "a pool that does not announce that a handler can begin",
    file: "inbox/internal/consumer/pool.ts",
    find: "    if (active === 0) idle.openUnsafe()\n    free.wake()",
    replace: "    if (active === 0) idle.openUnsafe()",
    programs: handlers
  },
  {
    name: "handlers that wait are not started when all before them are lost",
    file: "inbox/internal/consumer/pool.ts",
    find: "    if (queue.length > 0) dispatch()\n    if (active === 0)",
    replace: "    if (active === 0)",
    programs: pipelines
  },
  {
    name: "a fingerprint that is forgotten too early",
    file: "inbox/internal/batch.ts",
    find: "Math.max(0, now - deduplicationWindow)",
    replace: "now + 1",
    programs: handlers
  },
  {
    name: "a second attempt that does not begin again",
    file: "inbox/internal/consumer/engine.ts",
    find: "      queued.beginNext()\n      if (!wasStopping)",
    replace: "      if (!wasStopping)",
    programs: handlers
  },
  {
    name: "a retry keeps the changes of the attempt before",
    file: "inbox/internal/consumer/partitions.ts",
    find: "    this.#current?.close()\n    this.#current = undefined\n  }\n\n  /**\n   * Returns the changes to write",
    replace: "  }\n\n  /**\n   * Returns the changes to write",
    programs: handlers
  },
  {
    name: "a handler that failed is acknowledged",
    file: "inbox/internal/consumer/pool.ts",
    find: "return yield* persist(delivery.retry({ after: next.value[1] }))",
    replace: "return yield* persist(delivery.ack)",
    programs: ["handlers", "pipelines"]
  },
  {
    name: "a handler that is interrupted by a stop is acknowledged",
    file: "inbox/internal/consumer/pool.ts",
    find: "if (isInterrupting) return endAfter(delivery, persist(delivery.retry()))",
    replace: "if (isInterrupting) return endAfter(delivery, persist(delivery.ack))",
    programs: ["live", "pipelines", "handlers"]
  },
  {
    name: "a settled update that still counts as emitted",
    file: "inbox/internal/consumer/engine.ts",
    find: "    queued.partition.settled(queued)\n    unsettled--",
    replace: "    queued.partition.settled(queued)",
    programs: handlers
  },
  {
    name: "a claim that fails is not repeated",
    file: "inbox/internal/consumer/leases.ts",
    find: "Effect.orDie(retried(isShared ? Effect.andThen(renewal.renewDoubtful, claim) : claim))",
    replace: "Effect.orDie(Effect.andThen(renewal.renewDoubtful, claim))",
    programs: handlers
  },
  {
    name: "only the first of several waiting deliveries is emitted",
    file: "inbox/internal/consumer/deliveryQueue.ts",
    find: "return Effect.succeed(emitted)",
    replace: "return Effect.succeed([emitted[0]] as unknown as typeof emitted)",
    programs: ["handlers", "pipelines"]
  },
  {
    name: "long polling goes on although a page was not stored",
    file: "inbox/LongPolling.ts",
    find: "yield* untilStored(inbox, inbox.receive(",
    replace: "yield* Effect.ignore(inbox.receive(",
    programs: handlers
  },
  {
    name: "pages of several pollers that overlap are handled twice",
    file: "inbox/InboxStore.ts",
    find: "{ now, duplicatesSince }: Batch): boolean =>\n    deduplication.add(fingerprint, now, duplicatesSince)",
    replace:
      "{ now, duplicatesSince, marker }: Batch): boolean =>\n    deduplication.add(fingerprint, now, duplicatesSince) ||\n    (marker !== undefined && (markers.get(marker.source) ?? 0n) < marker.value)",
    programs: handlers
  },
  {
    name: "data of a newer program counts as a failure of the update",
    file: "inbox/internal/consumer/newer.ts",
    find: "if (found !== undefined) return found",
    replace: "if (found === null) return found",
    programs: ["handlers", "conversations"]
  },
  {
    name: "a process keeps the partition of an update that the store has lost",
    file: "inbox/internal/consumer/leases.ts",
    find: "            lose(partition)\n            return onUnknown(owner, [key])",
    replace: "            return onUnknown(owner, [])",
    programs: handlers
  },
  {
    name: "a webhook answers 200 although nothing was stored",
    file: "inbox/internal/sources/receiver.ts",
    find: "onSuccess: () => responses.ok, onFailure: failed",
    replace: "onSuccess: () => responses.ok, onFailure: () => responses.ok",
    programs: handlers
  },
  {
    name: "a branch that is done acknowledges for the others",
    file: "inbox/internal/consumer/settlement.ts",
    find: "return --left === 0 ? of.take(worst) : none",
    replace: "return --left === count - 1 ? of.take(worst) : none",
    programs: pipelines
  },
  {
    name: "a group settles its first update only",
    file: "inbox/internal/consumer/settlement.ts",
    find: "    return concat(this.#parts, (part) => part.take(outcome))",
    replace: "    return this.#parts[0]!.take(outcome)",
    programs: pipelines
  },
  {
    name: "a group whose time is over loses all but one update",
    file: "inbox/internal/consumer/groupedWithin.ts",
    find: "return Effect.succeed([new Group(group)])",
    replace: "return Effect.succeed([new Group([group[0]])])",
    programs: pipelines
  },
  {
    name: "an acknowledgement before the last step",
    file: "inbox/internal/consumer/handleEach.ts",
    find: "        onHandled: () => {\n          emitted.wake()\n          return Effect.void\n        }",
    replace:
      "        onHandled: (deliveries) => {\n          emitted.wake()\n          return settleAll(deliveries, acknowledged)\n        }",
    programs: pipelines
  }
]
