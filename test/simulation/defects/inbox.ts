/** Defects of how updates are stored, claimed, handled and settled. */
import type { Defect } from "./defect.ts"

const handlers = ["handlers"]

const pipelines = ["pipelines"]

export const inboxDefects: ReadonlyArray<Defect> = [
  {
    name: "a process that has nothing to do asks the store all the time",
    file: "inbox/internal/kernel/polling.ts",
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
    file: "inbox/internal/kernel/leases.ts",
    find: 'else if (partition.state !== "releasing") state.lose(partition)',
    replace: "else if (partition.key === undefined) state.lose(partition)",
    programs: ["handlers", "live"]
  },
  {
    name: "leases are renewed after they have ended",
    file: "inbox/internal/kernel/leases.ts",
    find: "const renewalsPerLease = 3",
    replace: "const renewalsPerLease = 0.5",
    programs: ["handlers", "live"]
  },
  {
    name: "a renewal that fails ends all renewals",
    file: "inbox/internal/kernel/leases.ts",
    find: "    this.#renewing = undefined\n    this.#isFailing =",
    replace: "    if (answer !== undefined) this.#renewing = undefined\n    this.#isFailing =",
    programs: ["handlers", "live"]
  },
  {
    name: "a lease that is valid until its loss is reported",
    file: "inbox/internal/kernel/leases.ts",
    find: "return !isShared || (!isLost && at.wall - wall < validFor && at.mono - mono < validFor)",
    replace: "return !isShared || (!isLost && (at.wall - wall < validFor || at.mono - mono >= 0))",
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
    find: "      if (active === 0) idle.openUnsafe()\n      free.wake()",
    replace: "      if (active === 0) idle.openUnsafe()",
    programs: handlers
  },
  {
    name: "handlers that wait are not started when all before them are lost",
    file: "inbox/internal/consumer/pool.ts",
    find: "      if (queue.length > 0) dispatch()\n      if (active === 0)",
    replace: "      if (active === 0)",
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
    file: "inbox/internal/kernel/delivery.ts",
    find: 'if (end === "retry" || end === "again") return this.#beginAgain()',
    replace:
      'if (end === "retry") return void (this.outcome = undefined)\n    if (end === "again") return this.#beginAgain()',
    programs: handlers
  },
  {
    name: "a retry keeps the changes of the attempt before",
    file: "inbox/internal/kernel/delivery.ts",
    find: "    this.close()\n    this.#current = undefined\n",
    replace: "",
    programs: handlers
  },
  {
    name: "a handler that failed is acknowledged",
    file: "inbox/internal/consumer/failures.ts",
    find: "return yield* persist(delivery.retry({ after: next.value[1] }))",
    replace: "return yield* persist(delivery.ack)",
    programs: ["handlers", "pipelines"]
  },
  {
    name: "a handler that is interrupted by a stop is acknowledged",
    file: "inbox/internal/consumer/pool.ts",
    find: "if (isInterrupting) return settling.endAfter(delivery, persist(delivery.retry()))",
    replace: "if (isInterrupting) return settling.endAfter(delivery, persist(delivery.ack))",
    programs: ["live", "pipelines", "handlers"]
  },
  {
    name: "a settled update that still counts as emitted",
    file: "inbox/internal/kernel/state.ts",
    find: "    this.unsettled--\n",
    replace: "",
    programs: handlers
  },
  {
    name: "a claim that fails is not repeated",
    file: "inbox/internal/kernel/interpreter.ts",
    find: "Effect.orDie(outage.retryOrDie(claimed, isTemporary))",
    replace: "Effect.orDie(claimed)",
    programs: handlers
  },
  {
    name: "only the first of several waiting deliveries is emitted",
    file: "inbox/internal/kernel/emitter.ts",
    find: "return Effect.succeed(emitted)",
    replace: "return Effect.succeed([emitted[0]])",
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
    find: "deduplication.add(fingerprint, batch.now, batch.duplicatesSince)",
    replace:
      "deduplication.add(fingerprint, batch.now, batch.duplicatesSince) ||\n      batch.rows?.some(({ key, row }) => BigInt(rows.get(key)?.text ?? 0) < BigInt(row?.text ?? 0)) === true",
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
    file: "inbox/internal/kernel/leases.ts",
    find: "    this.#state.abandon(partition)\n",
    replace: "",
    programs: handlers,
    situation: "failovers"
  },
  {
    name: "a claim brings back an update that was acknowledged before the answer",
    file: "inbox/internal/kernel/leases.ts",
    find: "if (isEnded || isChanging) {",
    replace: "if (isEnded && updates.length === 0) {",
    programs: handlers,
    situation: "failovers"
  },
  {
    name: "a claim has the name of a lease that was lost",
    file: "inbox/internal/kernel/state.ts",
    find: "    this.owners.onAbandoned(partition)\n",
    replace: "",
    programs: handlers,
    situation: "outages"
  },
  {
    name: "leases under several names are renewed one after the other",
    file: "inbox/internal/kernel/interpreter.ts",
    find: '      (owner) => Effect.map(store.renew(owner, leaseMillis), (keys) => [owner, keys] as const),\n      { concurrency: "unbounded" }',
    replace: "      (owner) => Effect.map(store.renew(owner, leaseMillis), (keys) => [owner, keys] as const)",
    programs: handlers,
    situation: "clocks"
  },
  {
    name: "a chat goes on while a claim under its name can bring its lease back",
    file: "inbox/internal/kernel/leases.ts",
    find: "return partition.owner === this.#state.owners.claim?.owner && !this.isValid(partition)",
    replace: "return partition.owner === this.#state.owners.claim?.owner && this.#state.mono < 0",
    programs: handlers,
    situation: "freezes"
  },
  {
    name: "a claim brings back an update whose acknowledgement the store has lost",
    file: "inbox/internal/kernel/leases.ts",
    find: 'if (before !== undefined && before.state !== "releasing") state.lose(before)',
    replace: 'if (before !== undefined && before.state !== "releasing" && !isEnded) state.lose(before)',
    programs: handlers,
    situation: "failovers"
  },
  {
    name: "a process that stood still writes an ended conversation again",
    file: "bot/internal/state/access.ts",
    find: "return Effect.andThen(fiber.getRef(CurrentLease)?.confirm ?? Effect.void, written)",
    replace: "return written",
    programs: ["conversations"],
    situation: "freezes"
  },
  {
    name: "no further call of the rate limiter after an interrupted failure",
    file: "client/internal/rateLimiter/availability.ts",
    find: "}).pipe(Effect.uninterruptible)",
    replace: "})",
    programs: handlers,
    situation: "outages"
  },
  {
    name: "a chat that is claimed again goes on behind updates whose acknowledgement the store has lost",
    file: "inbox/internal/kernel/leases.ts",
    find: "    return stored.slice(0, compared).every((claimed, index) => {",
    replace: `    const first = begun[0]?.entry ?? rest[0]
    const from = Math.max(0, stored.findIndex(({ id }) => id === first?.id))
    return stored.slice(from, from + compared).every((claimed, index) => {`,
    programs: handlers,
    situation: "failovers"
  },
  {
    name: "a webhook answers 200 although nothing was stored",
    file: "inbox/internal/sources/receiver.ts",
    find: "onSuccess: () => ok, onFailure: failed",
    replace: "onSuccess: () => ok, onFailure: () => ok",
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
    find: "return concat(this.#parts, (part) => part.take(outcome))",
    replace: "return this.#parts[0]!.take(outcome)",
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
