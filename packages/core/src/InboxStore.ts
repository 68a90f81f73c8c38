/**
 * Where an inbox keeps its letters: in memory, in a file, in a database. A port: `Inbox` has the policy.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { makeMemory } from "./internal/updates/memoryStore.ts"
import type * as Letter from "./Letter.ts"
import type { StoreError } from "./StoreError.ts"
import * as WriteBatching from "./WriteBatching.ts"

/**
 * What arrives at once, and is stored all or not at all: letters in their order, what could not be read, and how far the
 * source has been read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Arrival {
  readonly letters: ReadonlyArray<Letter.Letter>
  readonly unreadable: ReadonlyArray<{ readonly letter: Letter.Letter; readonly problem: string }>
  readonly marker?: { readonly source: string; readonly value: bigint } | undefined
  readonly now: number
  /** A letter whose fingerprint arrived since then is a duplicate and is not stored again. */
  readonly duplicatesSince: number
}

/**
 * The letters of one key that a claim gives: the first ones, in their order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Mailbox {
  readonly key: string
  readonly letters: ReadonlyArray<Letter.Stored>
}

/**
 * Who asks for mailboxes, how many, and with how many letters each at the most. What is claimed belongs to `owner` until
 * `leaseUntil`, and to nobody else.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  readonly owner: string
  readonly now: number
  readonly leaseUntil: number
  readonly mailboxes: number
  readonly letters: number
}

/**
 * What became of the first letter of a claimed mailbox: it was handled, or it is put aside with its problem. `release`
 * gives the mailbox back. Without `letter`, it is only given back.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settlement {
  readonly owner: string
  readonly key: string
  readonly letter?: { readonly id: string; readonly death?: Death | undefined } | undefined
  readonly release: boolean
}

/**
 * Why a letter is put aside.
 *
 * @category models
 * @since 0.1.0
 */
export interface Death {
  readonly problem: string
  readonly attempts: number
  readonly at: number
}

/**
 * What stands in a store: letters that wait or are being handled, the arrival of the oldest of them, and the dead.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stats {
  readonly waiting: number
  readonly oldest: number | undefined
  readonly dead: number
}

/**
 * What a store must do. Each operation is atomic: several processes may use one store at once. All times are Unix
 * milliseconds of the caller's clock. `InboxSuite` of `@colloquy/testing` holds a store to this.
 *
 * @category services
 * @since 0.1.0
 */
export class InboxStore extends Context.Service<
  InboxStore,
  {
    /** Whether other processes may use the store at the same time. Then it is looked at each second. */
    readonly isShared: boolean
    /**
     * Stores an arrival, all or nothing, durably. Letters and unreadable ones whose fingerprint came since
     * `duplicatesSince` (earlier in the same arrival too) are left out; gives the number of those that are new.
     */
    readonly put: (arrival: Arrival) => Effect.Effect<number, StoreError>
    /**
     * Claims mailboxes that nobody holds, or whose lease has run out, those with the oldest first letter first; each
     * with its first letters. A key has one owner at a time, so the order within a key holds across processes.
     */
    readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<Mailbox>, StoreError>
    /**
     * Settles letters of mailboxes, in the order given. A settled letter is gone, or among the dead. What comes from
     * somebody who does not own the mailbox any more is passed over: the next owner handles the letter again.
     */
    readonly settle: (settlements: ReadonlyArray<Settlement>) => Effect.Effect<void, StoreError>
    /** Sets the lease of all mailboxes that an owner still holds. One in the past gives them back. */
    readonly extend: (owner: string, leaseUntil: number) => Effect.Effect<void, StoreError>
    readonly stats: Effect.Effect<Stats, StoreError>
    /** How far a source has been read. */
    readonly marker: (source: string) => Effect.Effect<bigint | undefined, StoreError>
    /** The dead from the oldest on, those after the id `after`. */
    readonly dead: (page: {
      readonly after?: string | undefined
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Letter.Dead>, StoreError>
    /** Puts dead letters back at the end of their mailbox, whatever their fingerprint; gives how many there were. */
    readonly replay: (ids: ReadonlyArray<string>) => Effect.Effect<number, StoreError>
    /** Forgets dead letters; gives how many there were. */
    readonly drop: (ids: ReadonlyArray<string>) => Effect.Effect<number, StoreError>
    /** Forgets the fingerprints that came before `seenBefore` and the letters that died before `diedBefore`. */
    readonly sweep: (limits: {
      readonly seenBefore: number
      readonly diedBefore: number
    }) => Effect.Effect<void, StoreError>
  }
>()("@colloquy/core/InboxStore") {}

/**
 * A store in memory, for tests and for bots that may lose what they have not handled when they stop.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<InboxStore> = Layer.effect(
  InboxStore,
  Effect.sync(() => InboxStore.of(makeMemory()))
)

/**
 * The operations of a store that can store several arrivals in one transaction. {@link withWriteBatching} makes an
 * `InboxStore` of them.
 *
 * @category models
 * @since 0.1.0
 */
export interface BatchStore extends Omit<InboxStore["Service"], "put"> {
  /** Stores all arrivals or none. Returns the number of new letters of each. */
  readonly putAll: (arrivals: ReadonlyArray<Arrival>) => Effect.Effect<ReadonlyArray<number>, StoreError>
}

/** Maximum weight of a transaction: every letter weighs 1, and 1 more for each thousand characters. */
const maxWeight = 2000

const weighLetter = ({ text }: Letter.Letter): number => 1 + text.length / 1000

const weighArrival = ({ letters, unreadable }: Arrival): number =>
  letters.reduce((weight, letter) => weight + weighLetter(letter), 1) +
  unreadable.reduce((weight, { letter }) => weight + weighLetter(letter), 0)

/**
 * Adds write batching to a store whose transactions cost more than the rows that they write: arrivals and settlements
 * that come while a transaction is running share the next one. Each of them still succeeds or fails by itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const withWriteBatching = ({
  putAll,
  ...store
}: BatchStore): Effect.Effect<InboxStore["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const put = yield* WriteBatching.make({ write: putAll, weigh: weighArrival, maxWeight })
    const settle = yield* WriteBatching.make({
      write: (all: ReadonlyArray<ReadonlyArray<Settlement>>) =>
        Effect.as(
          store.settle(all.flat()),
          all.map(() => {})
        ),
      weigh: (settlements) => settlements.length,
      maxWeight
    })
    return InboxStore.of({ ...store, put, settle })
  })
