import * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Delivery, Variance } from "../../Deliveries.ts"
import { StoreError } from "../../../base/StoreError.ts"
import type { Queued } from "../kernel/delivery.ts"
import type { Outcome } from "../kernel/partition.ts"
import { GroupAttempt } from "./statements.ts"

/** Identifies a delivery. */
export const TypeId = "~@colloquy/core/Delivery"

/** The outcome of an acknowledgement. */
type Acknowledged = Extract<Outcome, { readonly _tag: "ack" }>

export const acknowledged: Outcome = { _tag: "ack" }

/** Makes an effect interruptible in a settlement, which is not. */
export type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** The error of a statement because of which a commit was not applied. */
export interface Refusal {
  readonly error: unknown
}

const none: ReadonlyArray<Queued> = []

/**
 * The updates of several deliveries, in order. The function is no `flatMap`, because groups have many deliveries of one
 * update.
 */
const concat = <A>(all: ReadonlyArray<A>, updatesOf: (one: A) => ReadonlyArray<Queued>): ReadonlyArray<Queued> => {
  const updates: Array<Queued> = []
  for (const one of all) {
    for (const update of updatesOf(one)) updates.push(update)
  }
  return updates
}

const variance: Variance<unknown> = { _Services: () => {} }

/**
 * A delivery in the form that the operators use. The services of a delivery are known only to the types of the
 * operators.
 */
export abstract class Settleable<out A> implements Delivery<A, unknown> {
  abstract readonly value: A
  abstract readonly attempt: number
  /** The updates of the delivery. */
  abstract readonly updates: ReadonlyArray<Queued>
  /** Whether the delivery is shared with other pipelines, or has a part that is. */
  abstract readonly isBranch: boolean
  /** The attempt to handle all updates of the delivery together. `undefined` if the delivery is no group. */
  abstract readonly group: GroupAttempt | undefined
  /** Marks the delivery as settled, and returns the updates to write. Empty if the delivery was settled before. */
  abstract take(outcome: Outcome): ReadonlyArray<Queued>

  get [TypeId](): Variance<unknown> {
    return variance
  }

  // Getters, because callers may destructure a delivery.
  get ack(): Effect.Effect<void, StoreError> {
    return Effect.flatMap(
      Effect.suspend(() => settleTaken(() => this.take(acknowledged))),
      () => failIfRefused(this.updates)
    )
  }

  get retry() {
    return (options?: { readonly after?: Duration.Input | undefined }): Effect.Effect<void, StoreError> =>
      settleTaken(() => this.take({ _tag: "retry", after: Duration.toMillis(options?.after ?? 0) }))
  }

  get reject() {
    return (cause: Cause.Cause<unknown>): Effect.Effect<void, StoreError> =>
      settleTaken(() => this.take({ _tag: "reject", cause }))
  }
}

/** Returns why an acknowledgement of several updates was refused. */
export const refusalIn = (updates: ReadonlyArray<Queued>): Refusal | undefined => {
  for (const { refusal } of updates) if (refusal !== undefined) return refusal
  return undefined
}

/** Fails if a statement prevented an acknowledgement, as if the store had refused the acknowledgement for good. */
const failIfRefused = (updates: ReadonlyArray<Queued>): Effect.Effect<void, StoreError> => {
  const refusal = refusalIn(updates)
  if (refusal === undefined) return Effect.void
  const { error } = refusal
  const reason = `a statement of Commit.add failed: ${error instanceof Error ? error.message : String(error)}`
  return Effect.fail(new StoreError({ store: "inbox", operation: "commit", reason, isRetryable: false, cause: error }))
}

const isSettleable = <A>(delivery: Delivery<A>): delivery is Settleable<A> => "take" in delivery

/** Dies for an object that only has the properties of a delivery, such as a copy. */
export const settleable = <A>(delivery: Delivery<A>): Settleable<A> => {
  if (isSettleable(delivery)) return delivery
  throw new TypeError(
    "The value is no delivery of a stream of Updates.deliveries. A copy of a delivery is none: use Deliveries.map to change " +
      "the value of a delivery."
  )
}

/** Writes the outcomes of updates: one write for each origin. */
const write = (updates: ReadonlyArray<Queued>, restore: Restore): Effect.Effect<void, StoreError> => {
  const [first] = updates
  if (first === undefined) return Effect.void
  const { origin } = first
  if (updates.every((update) => update.origin === origin)) return origin.emitter.settle(updates, restore)
  const byOrigin = Map.groupBy(updates, ({ origin }) => origin)
  return Effect.forEach(byOrigin, ([origin, group]) => origin.emitter.settle(group, restore), {
    discard: true,
    concurrency: "unbounded"
  })
}

/** Writes the updates that `take` returns. No interruption comes between both, because a taken update is not taken again. */
const settleTaken = (take: () => ReadonlyArray<Queued>): Effect.Effect<void, StoreError> =>
  Effect.uninterruptibleMask((restore) => write(take(), restore))

/** Settles deliveries in one write for each inbox. */
export const settleAll = (
  deliveries: ReadonlyArray<Delivery<unknown>>,
  outcome: Outcome
): Effect.Effect<void, StoreError> =>
  settleTaken(() => concat(deliveries, (delivery) => settleable(delivery).take(outcome)))

/** The same, by hand. Fails if a statement prevented an acknowledgement. */
export const ackAll = (deliveries: ReadonlyArray<Delivery<unknown>>): Effect.Effect<void, StoreError> =>
  Effect.flatMap(settleAll(deliveries, acknowledged), () =>
    failIfRefused(concat(deliveries, (delivery) => settleable(delivery).updates))
  )

/** A delivery that is made of another delivery. */
abstract class DerivedDelivery<out A> extends Settleable<A> {
  protected readonly of: Settleable<unknown>
  readonly value: A

  constructor(of: Delivery<unknown>, value: A) {
    super()
    this.of = settleable(of)
    this.value = value
  }

  get attempt(): number {
    return this.of.attempt
  }

  get updates(): ReadonlyArray<Queued> {
    return this.of.updates
  }
}

/** A delivery whose value a pipeline derived from another delivery. */
export class MappedDelivery<out A> extends DerivedDelivery<A> {
  get isBranch(): boolean {
    return this.of.isBranch
  }

  get group(): GroupAttempt | undefined {
    return this.of.group
  }

  take(outcome: Outcome): ReadonlyArray<Queued> {
    return this.of.take(outcome)
  }
}

/** A delivery of several deliveries. */
export class Group<out A> extends Settleable<Arr.NonEmptyReadonlyArray<A>> {
  readonly #parts: ReadonlyArray<Settleable<A>>
  #updates: ReadonlyArray<Queued> | undefined
  #group: GroupAttempt | undefined
  readonly value: Arr.NonEmptyReadonlyArray<A>

  constructor(parts: Arr.NonEmptyReadonlyArray<Delivery<A>>) {
    super()
    this.#parts = parts.map(settleable)
    this.value = Arr.map(parts, ({ value }) => value)
  }

  get attempt(): number {
    return this.#parts.reduce((highest, { attempt }) => Math.max(highest, attempt), 1)
  }

  get updates(): ReadonlyArray<Queued> {
    return (this.#updates ??= concat(this.#parts, ({ updates }) => updates))
  }

  get isBranch(): boolean {
    return this.#parts.some(({ isBranch }) => isBranch)
  }

  get group(): GroupAttempt {
    return (this.#group ??= new GroupAttempt(this.updates, this.isBranch))
  }

  take(outcome: Outcome): ReadonlyArray<Queued> {
    const statements = outcome._tag === "ack" ? this.#group?.close() : undefined
    if (statements === undefined || statements.length === 0) return concat(this.#parts, (part) => part.take(outcome))
    // A group of groups is one batch. The statements of its parts come first.
    const batch = (outcome as Acknowledged).batch ?? { size: this.updates.length, statements: [] }
    const updates = concat(this.#parts, (part) => part.take({ _tag: "ack", batch }))
    batch.statements.push(...statements)
    return updates
  }
}

/** The outcome of the greatest rank counts. */
const ranks = { ack: 0, again: 1, retry: 1, handBack: 2, reject: 3 } as const

const worse = (a: Outcome, b: Outcome): Outcome => {
  if ("after" in a && "after" in b) return a.after >= b.after ? a : b
  return ranks[a._tag] >= ranks[b._tag] ? a : b
}

class Branch<out A> extends DerivedDelivery<A> {
  readonly isBranch = true
  readonly #settled: (outcome: Outcome) => ReadonlyArray<Queued>
  #isSettled = false
  #group: GroupAttempt | undefined

  constructor(of: Delivery<A>, settled: (outcome: Outcome) => ReadonlyArray<Queued>) {
    super(of, of.value)
    this.#settled = settled
  }

  get group(): GroupAttempt | undefined {
    return this.updates.length === 1 ? undefined : (this.#group ??= new GroupAttempt(this.updates, true))
  }

  take(outcome: Outcome): ReadonlyArray<Queued> {
    if (this.#isSettled) return none
    this.#isSettled = true
    return this.#settled(outcome)
  }
}

/**
 * Divides a delivery between branches. The delivery is settled when all branches are settled, by the worst of their
 * outcomes.
 */
export const branches = <A>(delivery: Delivery<A>, count: number): ReadonlyArray<Settleable<A>> => {
  const of = settleable(delivery)
  let left = count
  let worst: Outcome = acknowledged
  const settled = (outcome: Outcome): ReadonlyArray<Queued> => {
    worst = worse(worst, outcome)
    return --left === 0 ? of.take(worst) : none
  }
  return Array.from({ length: count }, () => new Branch(of, settled))
}
