import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { bracket } from "../../../base/internal/bracket.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import type { ApiError } from "../../../client/ApiError.ts"
import type { Call, EndpointCall, Response, Texts, UpdateJournal } from "../../../client/internal/journal/current.ts"
import { CurrentSlots, makeSlots, type Slots } from "../../../client/internal/journal/slots.ts"
import type { Row } from "../../InboxStore.ts"
import type { QueuedUpdate } from "../../QueuedUpdate.ts"
import { Calls } from "./calls.ts"
import { nameOf, toCall } from "./endpointCall.ts"
import { Entries, type Owner, type Record, wasRead, type Writing } from "./entries.ts"
import { makeJournalMetrics, type Outcome } from "./metrics.ts"
import * as texts from "./texts.ts"
import { makeWriteSoon } from "./writeSoon.ts"

export { type Record, wasRead }

/** The services that the journals of all updates of a process share. */
interface Shared {
  readonly clock: Clock.Clock
  readonly count: (outcome: Outcome) => void
  readonly writing: Writing
  /** Writes the unwritten entries of a journal, in the next turn of the event loop. */
  readonly writeSoon: (journal: UpdateJournal) => void
}

/**
 * The part of the journal of an update that is in memory. Most updates need no journal, so the first call creates this
 * part.
 */
interface Opened {
  readonly entries: Entries
  readonly calls: Calls
  /** The slots of the current attempt. */
  slots: Slots
}

/** Runs an effect in a slot. An effect that fails gives the slot back. */
const inSlot = <A, E, R>(
  slots: Slots,
  name: string,
  identity: unknown,
  run: (slot: string) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  bracket(
    () => slots.take(name, identity),
    run,
    (slot, exit) => {
      if (Exit.isFailure(exit)) slots.fail(slot, name, identity)
      return undefined
    }
  )

/** The journal of one update. The journal is used by one process at a time, which holds the partition of the update. */
export class Journal implements UpdateJournal, Owner {
  readonly #shared: Shared
  readonly #queued: QueuedUpdate
  readonly #stored: ReadonlyArray<Row> | undefined
  readonly #record: Record
  #opened: Opened | undefined
  #state: Owner["state"] = "open"
  storeFailure: StoreError | undefined = undefined

  constructor(shared: Shared, queued: QueuedUpdate, stored: ReadonlyArray<Row> | undefined, record: Record) {
    this.#shared = shared
    this.#queued = queued
    this.#stored = stored
    this.#record = record
  }

  get key(): string {
    return this.#queued.fingerprint
  }

  get state(): Owner["state"] {
    return this.#state
  }

  /** Whether this process has written or read all entries that the store has now. */
  knows(stored: ReadonlyArray<Row> | undefined): boolean {
    return this.#opened?.entries.knows(stored) ?? wasRead(this.#stored, stored)
  }

  /** The rows of the entries that the store has, or that are not written yet. */
  get rows(): ReadonlyArray<Pick<Row, "key" | "text">> {
    return this.#opened?.entries.rows ?? this.#stored ?? []
  }

  /** Begins the next attempt. */
  begin(): void {
    this.storeFailure = undefined
    if (this.#opened !== undefined) this.#opened.slots = makeSlots()
    this.reopen()
  }

  /** The acknowledgement is being written. */
  end(): void {
    if (this.#state === "open") this.#state = "ending"
  }

  /** The update is not acknowledged. */
  reopen(): void {
    if (this.#state !== "ending") return
    this.#state = "open"
    this.#shared.writeSoon(this)
  }

  /** The update is not handled any more. */
  close(): void {
    this.#state = "closed"
  }

  call<A, E>(call: Call<A, E>): Effect.Effect<A, E> {
    return Effect.withFiber((fiber) => {
      const name = `${call.kind} ${call.name}`
      if (this.#state === "closed") return call.run(Effect.void, name)
      const { calls, slots: current } = this.#open()
      const slots = fiber.getRef(CurrentSlots) ?? current
      return inSlot(slots, name, call.identity, (slot) => calls.call(slot, call))
    })
  }

  scope<A, E, R>(name: string, identity: unknown, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.withFiber((fiber) => {
      if (this.#state === "closed") return effect
      const slots = fiber.getRef(CurrentSlots) ?? this.#open().slots
      return inSlot(slots, name, identity, (slot) => Effect.provideService(effect, CurrentSlots, makeSlots(slot)))
    })
  }

  get flush(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const entries = this.#opened?.entries
      return entries === undefined || entries.isWritten || this.#state !== "open" ? Effect.void : entries.write()
    })
  }

  callEndpoint<Request, Success>(call: EndpointCall<Request, Success>): Effect.Effect<Response<Success>, ApiError> {
    return this.call(toCall(call))
  }

  stateOf(endpoint: string, name: string, current: Slots | undefined): "started" | "done" | undefined {
    if (this.#state === "closed") return undefined
    const { entries, slots } = this.#open()
    const entry = entries.get((current ?? slots).first(`${endpoint} ${nameOf(name)}`))
    return entry === undefined || entry.state === "removed" ? undefined : entry.state
  }

  texts(name: string, current: Slots | undefined): Texts {
    if (this.#state === "closed") return texts.none
    const opened = this.#open()
    const slots = current ?? opened.slots
    const slot = slots.take(`list ${name}`)
    return texts.open(opened.entries, slot, () => slots.fail(slot, `list ${name}`))
  }

  release(endpoint: string, name: string, current: Slots | undefined): void {
    const slots = current ?? this.#opened?.slots
    slots?.restart(`${endpoint} ${nameOf(name)}`)
  }

  #open(): Opened {
    if (this.#opened !== undefined) return this.#opened
    const { clock, count, writeSoon, writing } = this.#shared
    const entries = new Entries(this, this.#stored, this.#record, writing)
    const calls = new Calls({ queued: this.#queued, entries, clock, count, writeSoon: () => writeSoon(this) })
    return (this.#opened = { entries, calls, slots: makeSlots() })
  }
}

/** Creates the journals of the updates that a process handles. */
export const make = Effect.fnUntraced(function* (writing: Writing) {
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const shared: Shared = {
    clock,
    count: makeJournalMetrics(context),
    writing,
    writeSoon: yield* makeWriteSoon(context)
  }
  return (queued: QueuedUpdate, stored: ReadonlyArray<Row> | undefined, record: Record): Journal =>
    new Journal(shared, queued, stored, record)
})
