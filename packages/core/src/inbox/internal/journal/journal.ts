import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import { type ApiError, Uncertain } from "../../../client/ApiError.ts"
import type { JournalEntry, RecordResult } from "../../HandlingStore.ts"
import { CurrentPolicy, type Decision } from "../../Journal.ts"
import type { Outage } from "../../../client/Outage.ts"
import type { QueuedUpdate } from "../../QueuedUpdate.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { chatOf, chatTypeOf, type Update, userIdOf } from "../../../model/Update.ts"
import { monoNow } from "../consumer/held.ts"
import type { Created } from "../../../client/internal/journal/created.ts"
import type {
  Call,
  Candidate,
  EndpointCall,
  Past,
  Response,
  Texts,
  UpdateJournal
} from "../../../client/internal/journal/current.ts"
import { nameOf, toCall } from "./endpointCall.ts"
import { makeJournalMetrics, type Outcome } from "./metrics.ts"
import { CurrentSlots, makeSlots, type Slots } from "../../../client/internal/journal/slots.ts"
import * as texts from "./texts.ts"
import { makeWriteSoon } from "./writeSoon.ts"

/** Writes entries of the journal of one update, if this process still holds its partition. */
export type Record = (entries: ReadonlyArray<JournalEntry>) => Effect.Effect<RecordResult, StoreError>

/** The record of the start of a call. */
interface Started extends Omit<Past, "dialog"> {
  /** The start in Unix milliseconds of the process that began the call. */
  readonly at: number
  /** Messages that earlier calls had created, and whose time may be after the start. */
  readonly created: ReadonlyArray<string>
}

/** The services that the journals of all updates of a process share. */
interface Shared {
  readonly now: () => number
  /** The time in milliseconds of the monotonic clock. */
  readonly monotonic: () => number
  readonly count: (outcome: Outcome) => void
  readonly outage: Outage
  /** Writes the unwritten entries of a journal, in the next turn of the event loop. */
  readonly writeSoon: (journal: UpdateJournal) => void
}

/** The clocks of the platform's servers may differ by this, in milliseconds. */
const tolerance = 1000

/**
 * The part of the journal of an update that is in memory. Most updates need no journal, so the first call creates this
 * part.
 */
interface Opened {
  readonly entries: Map<string, JournalEntry>
  /** The slots of the current attempt. */
  slots: Slots
  /** The slots whose call is running. */
  readonly running: Map<string, Latch.Latch>
  /** The answers and the texts of lists that the store may not have. */
  readonly unwritten: Set<JournalEntry>
}

/**
 * - `open`: the update is handled.
 * - `ending`: the acknowledgement is being written, which deletes the journal.
 * - `closed`: the update is not handled any more. Calls of fibers that still run are carried out without a journal.
 */
type State = "open" | "ending" | "closed"

/** The journal of one update. The journal is used by one process at a time, which holds the partition of the update. */
export class Journal implements UpdateJournal {
  readonly #shared: Shared
  readonly #queued: QueuedUpdate
  readonly #stored: ReadonlyArray<JournalEntry> | undefined
  readonly #record: Record
  #opened: Opened | undefined
  #state: State = "open"
  /** Why the store has not taken an entry that is being written. */
  storeFailure: StoreError | undefined = undefined

  constructor(shared: Shared, queued: QueuedUpdate, stored: ReadonlyArray<JournalEntry> | undefined, record: Record) {
    this.#shared = shared
    this.#queued = queued
    this.#stored = stored
    this.#record = record
  }

  get key(): string {
    return this.#queued.fingerprint
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
      const slots = fiber.getRef(CurrentSlots) ?? this.#open().slots
      const slot = slots.take(name, call.identity)
      return Effect.onExitPrimitive(this.#callIn(slot, call), (exit) => {
        if (Exit.isFailure(exit)) slots.fail(slot, name, call.identity)
        return undefined
      })
    })
  }

  scope<A, E, R>(name: string, identity: unknown, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.withFiber((fiber) => {
      if (this.#state === "closed") return effect
      const slots = fiber.getRef(CurrentSlots) ?? this.#open().slots
      const slot = slots.take(name, identity)
      return Effect.onExitPrimitive(Effect.provideService(effect, CurrentSlots, makeSlots(slot)), (exit) => {
        if (Exit.isFailure(exit)) slots.fail(slot, name, identity)
        return undefined
      })
    })
  }

  get flush(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const isWritten = this.#opened === undefined || this.#opened.unwritten.size === 0
      return isWritten || this.#state !== "open" ? Effect.void : this.#write()
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
    return texts.open(opened, slot, this.#write(), () => slots.fail(slot, `list ${name}`))
  }

  release(endpoint: string, name: string, current: Slots | undefined): void {
    const slots = current ?? this.#opened?.slots
    slots?.restart(`${endpoint} ${nameOf(name)}`)
  }

  #open(): Opened {
    return (this.#opened ??= {
      entries: new Map(this.#stored?.map((entry) => [entry.slot, entry])),
      slots: makeSlots(),
      running: new Map(),
      unwritten: new Set()
    })
  }

  #callIn<A, E>(slot: string, call: Call<A, E>): Effect.Effect<A, E> {
    return Effect.suspend((): Effect.Effect<A, E> => {
      const { entries, running } = this.#open()
      // Only a fiber that an earlier attempt has left behind can still be running this call.
      const other = running.get(slot)
      if (other !== undefined) return Effect.andThen(other.await, this.#callIn(slot, call))
      const entry = entries.get(slot)
      if (entry?.state === "done") return this.#replay(call, entry.text, "replayed")
      const latch = Latch.makeUnsafe(false)
      running.set(slot, latch)
      const result = entry === undefined ? this.#carryOut(slot, call) : this.#resolve(slot, call, entry)
      return Effect.onExitPrimitive(result, () => {
        running.delete(slot)
        latch.openUnsafe()
        return undefined
      })
    })
  }

  #replay<A, E>(call: Call<A, E>, text: string, outcome: Outcome): Effect.Effect<A, E> {
    this.#shared.count(outcome)
    return call.read(text)
  }

  /**
   * Writes entries to the store, together with unwritten entries if the journal is open. Retries while the store fails,
   * and interrupts the handler if the chat was lost.
   */
  #write(...entries: ReadonlyArray<JournalEntry>): Effect.Effect<void> {
    const written = Effect.suspend(() => {
      const { unwritten } = this.#open()
      const all = this.#state === "open" && unwritten.size > 0 ? [...unwritten, ...entries] : entries
      if (all.length === 0) return Effect.succeed("applied" as const)
      return Effect.map(this.#record(all), (result) => {
        this.storeFailure = undefined
        if (result === "applied") for (const entry of all) unwritten.delete(entry)
        return result
      })
    })
    const isRetried = (error: StoreError): boolean => {
      this.storeFailure = error
      return error.isRetryable
    }
    return Effect.flatMap(Effect.orDie(this.#shared.outage.retryOrDie(written, isRetried)), (result) =>
      result === "applied" || this.#state === "closed" ? Effect.void : Effect.interrupt
    )
  }

  /** A call that is repeated keeps the time of the first, because either of them may have been carried out. */
  #begin<A, E>(slot: string, call: Call<A, E>, before: Started | undefined): Effect.Effect<void> {
    return Effect.suspend(() => {
      const request = call.request()
      const { requests, ...started } = before ?? this.#started(call)
      const all = request === undefined || requests.includes(request) ? requests : [...requests, request]
      const entry: JournalEntry = { slot, state: "started", text: JSON.stringify({ ...started, requests: all }) }
      return Effect.map(this.#write(entry), () => void this.#open().entries.set(slot, entry))
    })
  }

  #started<A, E>({ chat_id, platform }: Call<A, E>): Started {
    const at = this.#shared.now()
    if (platform === undefined) return { after: at, at, requests: [], created: [] }
    const { created, time } = platform
    const now = this.#shared.monotonic()
    const happenedAt = this.#happenedAt
    time.observe(happenedAt, now)
    const after = Math.floor(Math.max(happenedAt, time.atLeast(now, at))) - tolerance
    return { after, at, requests: [], created: created.since(after, chat_id) }
  }

  #carryOut<A, E>(slot: string, call: Call<A, E>, before?: Started): Effect.Effect<A, E> {
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
    const isRefused = (cause: Cause.Cause<E>): boolean =>
      isBegun && cause.reasons.every((reason) => Cause.isFailReason(reason) && call.isRefusal(reason.error))
    // An interruption cannot come between the answer and its entry.
    const carriedOut = Effect.onExitPrimitive(call.run(begin, slot), (exit) => {
      if (Exit.isSuccess(exit)) {
        this.#created(slot, call, call.created(exit.value))
        this.#done(slot, call.write(exit.value))
      } else if (isRefused(exit.cause)) this.#open().entries.delete(slot)
      end()
      return undefined
    })
    return Effect.matchCauseEffect(carriedOut, {
      onSuccess: (answer) => {
        if (call.isWrittenAtOnce) return Effect.as(this.#write(), answer)
        this.#shared.writeSoon(this)
        return Effect.succeed(answer)
      },
      onFailure: (cause) => {
        const failed = Effect.failCause(cause)
        return isRefused(cause) ? Effect.andThen(this.#write({ slot, state: "removed", text: "" }), failed) : failed
      }
    })
  }

  #created<A, E>(slot: string, { platform }: Call<A, E>, created: Created | undefined): void {
    if (created === undefined) return
    platform?.time.observe(created.at, this.#shared.monotonic())
    platform?.created.add(created, this.#callOf(slot))
  }

  /** Identifies a call, also if the update is claimed again by this process. */
  #callOf(slot: string): string {
    return `${this.key} ${slot}`
  }

  /** The answer is in memory first, because a handler that is interrupted now may run again in this process. */
  #done(slot: string, text: string): void {
    const entry: JournalEntry = { slot, state: "done", text }
    const { entries, unwritten } = this.#open()
    entries.set(slot, entry)
    unwritten.add(entry)
  }

  /** Applies the policy to a call that may have been carried out. */
  #resolve<A, E>(slot: string, call: Call<A, E>, entry: JournalEntry): Effect.Effect<A, E> {
    return Effect.withFiber((fiber) => {
      const started = JSON.parse(entry.text) as Started
      const uncertain = new Uncertain({ call: call.kind === "step" ? call.name : call.kind, startedAt: started.at })
      const policy = fiber.getRef(CurrentPolicy)
      const decide = (decision: Decision): Effect.Effect<A, E> => {
        if (decision === "skip") {
          this.#shared.count("skipped")
          return Effect.fail(call.toError(uncertain))
        }
        return decision === "lookUp" && call.find !== undefined
          ? this.#lookUp(slot, call, started, call.find({ ...started, dialog: this.#dialog }))
          : this.#repeat(slot, call, started)
      }
      return typeof policy === "string" ? decide(policy) : Effect.flatMap(policy(uncertain), decide)
    })
  }

  #repeat<A, E>(slot: string, call: Call<A, E>, started: Started): Effect.Effect<A, E> {
    this.#shared.count("repeated")
    return this.#carryOut(slot, call, started)
  }

  #lookUp<A, E>(
    slot: string,
    call: Call<A, E>,
    started: Started,
    find: Effect.Effect<ReadonlyArray<Candidate>, E>
  ): Effect.Effect<A, E> {
    const { created } = call.platform!
    const isFree = ({ id }: Candidate) => !created.isOfAnother(id, this.#callOf(slot)) && !started.created.includes(id)
    return Effect.flatMap(Effect.andThen(this.#rememberCreated(call), find), (candidates) => {
      if (!candidates.some(isFree)) return this.#repeat(slot, call, started)
      // The message may belong to an equal call whose response has not been received.
      return Effect.flatMap(created.settled(call.kind, call.chat_id), () => {
        const found = candidates.find(isFree)
        if (found === undefined) return this.#repeat(slot, call, started)
        this.#created(slot, call, found)
        this.#done(slot, found.answer)
        return Effect.andThen(
          this.#write(),
          Effect.suspend(() => this.#replay(call, found.answer, "adopted"))
        )
      })
    })
  }

  /** Remembers the messages that calls of the same kind have created for this update, also in another process. */
  #rememberCreated<A, E>(call: Call<A, E>): Effect.Effect<void> {
    const answers = [...this.#open().entries.values()].filter(
      ({ slot, state }) => state === "done" && (slot.startsWith(`${call.kind} `) || slot.includes(`/${call.kind} `))
    )
    return Effect.forEach(
      answers,
      ({ slot, text }) =>
        Effect.ignore(Effect.map(call.read(text), (answer) => this.#created(slot, call, call.created(answer)))),
      { discard: true }
    )
  }

  /** `undefined` for an update that cannot be decoded, while the update becomes a dead letter. */
  get #update(): Update | undefined {
    return Result.getOrUndefined(this.#queued.decoded)
  }

  /** When the update happened by the clock of the platform. A timer has the time of the store. */
  get #happenedAt(): number {
    const update = this.#update
    return update === undefined || update.update_type === "colloquy_timer" || !("timestamp" in update)
      ? -Infinity
      : update.timestamp
  }

  get #dialog() {
    const update = this.#update
    if (update === undefined) return undefined
    const chat_id = chatOf(update)
    const user_id = userIdOf(update)
    return chatTypeOf(update) === "dialog" && chat_id !== undefined && user_id !== undefined
      ? { chat_id, user_id }
      : undefined
  }
}

/** Creates the journals of the updates that a process handles. */
export const make = Effect.fnUntraced(function* (outage: Outage) {
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const shared: Shared = {
    count: makeJournalMetrics(context),
    now: () => clock.currentTimeMillisUnsafe(),
    monotonic: () => monoNow(clock),
    outage,
    writeSoon: yield* makeWriteSoon(context)
  }
  return (queued: QueuedUpdate, stored: ReadonlyArray<JournalEntry> | undefined, record: Record): Journal =>
    new Journal(shared, queued, stored, record)
})
