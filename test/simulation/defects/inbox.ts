/** Defects of how updates are stored, claimed, handled and settled. */
import type { Defect } from "./defect.ts"

const handlers = ["handlers"]

const pipelines = ["pipelines"]

export const inboxDefects: ReadonlyArray<Defect> = [
  {
    name: "a commit without the fence",
    file: "internal/updates/memoryPartitions.ts",
    find: "return partition?.owner === owner ? partition : undefined",
    replace: "return partition",
    programs: handlers
  },
  {
    name: "a renewal that does not look what it renewed",
    file: "internal/updates/renewal.ts",
    find: "else if (partition.releasing === undefined) {",
    replace: "else if (partition.key === undefined) {",
    programs: ["handlers", "live"]
  },
  {
    name: "leases are renewed after they have ended",
    file: "internal/updates/renewal.ts",
    find: "const renewalsPerLease = 3",
    replace: "const renewalsPerLease = 0.5",
    programs: ["handlers", "live"]
  },
  {
    name: "a renewal that fails ends all renewals",
    file: "internal/updates/renewal.ts",
    find: "yield* Effect.result(renewAll)",
    replace: "yield* Effect.result(Effect.orDie(renewAll))",
    programs: ["handlers", "live"]
  },
  {
    name: "a lease is held for as long as nobody says otherwise",
    file: "internal/updates/held.ts",
    find: "!isShared || (!isLost && clock.currentTimeMillisUnsafe() - wall < validFor && monoNow(clock) - mono < validFor)",
    replace: "!isLost",
    programs: ["handlers", "live"]
  },
  {
    name: "a lost wake-up: a fiber looks, and registers later",
    file: "internal/updates/waiter.ts",
    find: "if (isReady()) return done(Effect.void)",
    replace: "if (waiting === undefined && isReady === undefined) return done(Effect.void)",
    programs: ["handlers", "pipelines"]
  },
  {
    name: "a pool that does not say that it has room",
    file: "internal/updates/pool.ts",
    find: "    if (active === 0) idle.openUnsafe()\n    free.wake()",
    replace: "    if (active === 0) idle.openUnsafe()",
    programs: handlers
  },
  {
    name: "handlers that wait are not started when all before them are lost",
    file: "internal/updates/pool.ts",
    find: "    if (queue.length > 0) dispatch()\n    if (active === 0)",
    replace: "    if (active === 0)",
    programs: handlers
  },
  {
    name: "a fingerprint that is forgotten too early",
    file: "Inbox.ts",
    find: "Math.max(0, now - deduplicationWindow)\n    return {",
    replace: "now + 1\n    return {",
    programs: handlers
  },
  {
    name: "a second attempt that does not begin again",
    file: "internal/updates/engine.ts",
    find: "      queued.beginNext()\n      if (!wasStopping)",
    replace: "      if (!wasStopping)",
    programs: handlers
  },
  {
    name: "a retry keeps what the attempt before has changed",
    file: "internal/updates/partitions.ts",
    find: "    this.#current?.close()\n    this.#current = undefined\n  }\n\n  /** Returns what is written with the acknowledgement",
    replace: "  }\n\n  /** Returns what is written with the acknowledgement",
    programs: handlers
  },
  {
    name: "a handler that failed is acknowledged",
    file: "internal/updates/pool.ts",
    find: "return yield* persist(delivery.retry({ after: next.value[1] }))",
    replace: "return yield* persist(delivery.ack)",
    programs: ["handlers", "pipelines"]
  },
  {
    name: "a handler that is interrupted by a stop is acknowledged",
    file: "internal/updates/pool.ts",
    find: "if (isInterrupting) return endAfter(persist(delivery.retry()))",
    replace: "if (isInterrupting) return endAfter(persist(delivery.ack))",
    programs: ["live", "pipelines", "handlers"]
  },
  {
    name: "a settled update that still counts as emitted",
    file: "internal/updates/engine.ts",
    find: "    queued.partition.settled(queued)\n    unsettled--",
    replace: "    queued.partition.settled(queued)",
    programs: handlers
  },
  {
    name: "a claim that fails is not repeated",
    file: "internal/updates/leases.ts",
    find: "Effect.orDie(retryWhile(isShared ? Effect.andThen(renewal.renewDoubtful, claim) : claim, () => true))",
    replace: "Effect.orDie(Effect.andThen(renewal.renewDoubtful, claim))",
    programs: handlers
  },
  {
    name: "only the first of several waiting deliveries is emitted",
    file: "internal/updates/outlet.ts",
    find: "return Effect.succeed(emitted)",
    replace: "return Effect.succeed([emitted[0]] as unknown as typeof emitted)",
    programs: ["handlers", "pipelines"]
  },
  {
    name: "long polling goes on although a page was not stored",
    file: "LongPolling.ts",
    find: "yield* untilStored(inbox.receive(",
    replace: "yield* Effect.ignore(inbox.receive(",
    programs: handlers
  },
  {
    name: "a webhook answers 200 although nothing was stored",
    file: "internal/webhook/receiver.ts",
    find: "onSuccess: () => responses.ok, onFailure: failed",
    replace: "onSuccess: () => responses.ok, onFailure: () => responses.ok",
    programs: handlers
  },
  {
    name: "a branch that is done acknowledges for the others",
    file: "internal/updates/settlement.ts",
    find: "return --left === 0 ? of.take(worst) : none",
    replace: "return --left === count - 1 ? of.take(worst) : none",
    programs: pipelines
  },
  {
    name: "a group settles its first update only",
    file: "internal/updates/settlement.ts",
    find: "    return concat(this.#parts, (part) => part.take(outcome))",
    replace: "    return this.#parts[0]!.take(outcome)",
    programs: pipelines
  },
  {
    name: "a group whose time is over loses all but one update",
    file: "internal/updates/groupedWithin.ts",
    find: "return Effect.succeed([new Group(group)])",
    replace: "return Effect.succeed([new Group([group[0]])])",
    programs: pipelines
  },
  {
    name: "an acknowledgement before the last step",
    file: "internal/updates/handleEach.ts",
    find: "        onHandled: () => {\n          emitted.wake()\n          return Effect.void\n        }",
    replace:
      "        onHandled: (deliveries) => {\n          emitted.wake()\n          return settleAll(deliveries, acknowledged)\n        }",
    programs: pipelines
  }
]
