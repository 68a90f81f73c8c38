import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Hash from "effect/Hash"
import * as Semaphore from "effect/Semaphore"
import type { BotApi } from "../../../client/BotApi.ts"
import * as Journal from "../../../inbox/Journal.ts"
import type { Message } from "../../../model/Message.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import type { Content, SendError } from "../../Talk.ts"
import type { UserId } from "../../../model/User.ts"
import { stringify } from "../../../base/internal/json.ts"
import { HasUniqueName } from "../../../client/internal/journal/current.ts"
import { defect } from "../../../base/internal/defect.ts"
import { type Event, isSuccess, type Pause, type Place, toBody } from "./event.ts"
import type { Entry, Kept, Record, Waiting } from "./record.ts"
import type { Storing } from "./storing.ts"

/**
 * An operation that completes before its run ends, and so cannot end the run: a step, or the option `otherwise` of a
 * question.
 */
interface CriticalSection {
  readonly run: Run
  readonly name: string
}

const CurrentSection = Context.Reference<CriticalSection | undefined>("@colloquy/core/Conversation/CurrentSection", {
  defaultValue: () => undefined
})

type Send<A> = Effect.Effect<A, SendError, BotApi>

/** How a run begins. */
export interface Beginning {
  /** Whether an answer was forgotten, so that messages that are kept back count as sent. */
  readonly isBack: boolean
  /** Whether an earlier attempt of the update has ended without an acknowledgement. */
  readonly isRepeated: boolean
  readonly storing: Storing
}

const yields = Effect.repeat(Effect.yieldNow, { times: 10 })

/**
 * A run of the body of a conversation.
 *
 * Until the operation that waits is reached, the run repeats the earlier runs: operations return their results, and
 * messages without a name are kept back. If the code has changed and the operation is not reached, the new messages are
 * sent before the next operation.
 */
export class Run {
  readonly place: Place
  readonly id: string
  readonly entries: Map<string, Entry>
  readonly #record: Record
  readonly #beginning: Beginning
  readonly #settled = Deferred.makeUnsafe<Exit.Exit<unknown, unknown> | undefined>()
  /** How often a name was not answered in time. */
  readonly #repetitions = new Map<string, number>()
  /** The names that no other operation can have. */
  #taken = new Set<string>()
  readonly #running = new Set<string>()
  readonly #ending = Semaphore.makeUnsafe(1)
  #keptBack: Array<() => Send<void>> = []
  #last: string | undefined
  #isRepeating: boolean
  #busy = 0
  #isOver = false
  #root: Fiber.Fiber<unknown, unknown> | undefined
  waiting: Waiting | undefined
  said: number
  kept: Kept | undefined
  event: Event | undefined
  pause: Pause | undefined
  isChanged = false
  /** The question whose buttons are to be removed. */
  buttons: Waiting | undefined

  constructor(place: Place, record: Record, event: Event | undefined, beginning: Beginning) {
    this.place = place
    this.id = record.run
    this.entries = new Map()
    for (const entry of record.entries) this.entries.set(entry[0], entry)
    this.#record = record
    this.#beginning = beginning
    this.#isRepeating = record.waiting !== undefined || record.unfinished !== undefined || beginning.isBack
    this.waiting = record.waiting
    this.said = record.said ?? 0
    this.kept = record.kept
    this.event = event
    this.buttons = record.waiting
  }

  get user(): UserId {
    return this.#record.user
  }

  /**
   * The key of a step for services that accept idempotency keys. A failed step runs again in later updates with the
   * same key, and a step whose result was forgotten runs again with another key.
   */
  keyOf(step: string): string {
    const { forgotten, run, user } = this.#record
    return `${run} ${this.place.chat_id} ${user} ${(forgotten?.[step] ?? 0) + 1} ${step}`
  }

  /** The record to store. */
  get next(): Record {
    const { again, forgotten, input, run, startedAt, user, version } = this.#record
    return {
      run,
      version,
      user,
      startedAt,
      ...(input === undefined ? {} : { input }),
      entries: [...this.entries.values()],
      ...(forgotten === undefined ? {} : { forgotten }),
      ...(this.waiting === undefined ? {} : { waiting: this.waiting }),
      ...(this.said === 0 ? {} : { said: this.said }),
      ...(this.kept === undefined ? {} : { kept: this.kept }),
      ...(again === undefined ? {} : { again })
    }
  }

  /** Runs the body. Returns `undefined` if the body was paused. */
  execute<A, E, R>(
    body: Effect.Effect<A, E, R>
  ): Effect.Effect<Exit.Exit<A, E | SendError> | undefined, never, R | BotApi> {
    const settled = this.#settled
    const rooted = Effect.withFiber((fiber) => {
      this.#root = fiber
      return Effect.tap(body, () => this.begin)
    })
    return Effect.flatMap(Effect.forkChild(rooted, { startImmediately: true }), (fiber) => {
      // A fiber that meets a value that is no effect ends without its finalizers.
      fiber.addObserver((exit) => void Deferred.doneUnsafe(settled, Effect.succeed(exit)))
      return Effect.flatMap(Deferred.await(settled), (exit) => {
        if (exit !== undefined) return Effect.succeed(exit as Exit.Exit<A, E | SendError>)
        this.#isOver = true
        return Effect.as(Fiber.interrupt(fiber), undefined)
      })
    })
  }

  /** Runs an operation with a name that no other operation of this run has. */
  operation<A, E, R>(name: string, run: (slot: string) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => this.#unlessPaused(() => this.#start(name, run)))
  }

  #start<A, E, R>(name: string, run: (slot: string) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const repetition = this.#repetitions.get(name)
    const slot = repetition === undefined ? name : `${name} ${repetition + 1}`
    if (name === "") {
      return defect(
        `The conversation "${this.place.name}" uses an empty name. Each question, step and sleep needs a name of its own.`
      )
    }
    if (this.#taken.has(slot)) {
      return defect(
        // The names of parts end with a slash.
        `The conversation "${this.place.name}" uses the name "${name.replace(/\/$/, "")}" twice. Each question, step and ` +
          "sleep needs a name of its own. In a loop, add the index to the name."
      )
    }
    this.#taken.add(slot)
    const result = run(slot)
    // The body runs for each answer, and most of its operations have a result already.
    if (isSuccess(result)) return result
    this.#running.add(slot)
    return Effect.onExitPrimitive(result, (exit) => {
      this.#running.delete(slot)
      // A failed operation can be run again, together with earlier operations, which return their results.
      if (Exit.isFailure(exit)) this.#taken = new Set(this.#running)
      return undefined
    })
  }

  /** The question was not answered in time. Asked again under its name, the question is another question. */
  unanswered(name: string): void {
    this.#repetitions.set(name, (this.#repetitions.get(name) ?? 0) + 1)
  }

  /** Returns the result of an operation. */
  known(slot: string): Entry | undefined {
    const entry = this.entries.get(slot)
    if (entry !== undefined && this.#isRepeating) {
      if (this.#keptBack.length > 0) this.#keptBack = []
      this.#last = slot
    }
    return entry
  }

  changed(): void {
    this.isChanged = true
    this.#beginning.storing.changed()
  }

  record(entry: Entry): void {
    this.entries.delete(entry[0])
    this.entries.set(entry[0], entry)
    if (this.waiting?.name === entry[0]) this.waiting = undefined
    this.said = 0
    this.changed()
  }

  /**
   * Records the answer of a person. If an earlier attempt has ended its process, later operations of this attempt can
   * end the process again.
   */
  take(entry: Entry): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.record(entry)
      return this.#beginning.isRepeated ? this.finishing(this.#beginning.storing.mark) : Effect.void
    })
  }

  /** Stores the results so far, before an operation that must not run without stored results. */
  get store(): Effect.Effect<void> {
    return this.#beginning.storing.store(
      () => this.next,
      () => this.event === undefined
    )
  }

  /** A result that cannot be read counts as absent. */
  forget(slot: string): void {
    this.entries.delete(slot)
    this.changed()
  }

  wait(waiting: Waiting): void {
    this.waiting = waiting
    this.changed()
  }

  /** The operation that waits is reached: nothing is repeated from now on. */
  reach(): void {
    this.#isRepeating = false
    this.#keptBack = []
  }

  /** Something new happens: messages that were kept back and not sent yet come first. */
  get begin(): Send<void> {
    return Effect.suspend(() => {
      if (!this.#isRepeating) return Effect.void
      const last = [...this.entries.keys()].at(-1)
      const sent = this.#beginning.isBack ? this.#keptBack.length : this.#last === last ? this.said : 0
      const missed = this.#keptBack.slice(sent)
      this.reach()
      this.said = sent
      return Effect.forEach(missed, (send) => send(), { discard: true })
    })
  }

  /**
   * A step begins. If an operation waits that is not reached, the messages in between were sent before the step was in
   * the code.
   */
  get beginStep(): Send<void> {
    return Effect.suspend(() => (this.waiting === undefined ? this.begin : Effect.void))
  }

  /** Does something that is finished before the run is paused. */
  finishing<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.#busy++
      return Effect.onExit(effect, (exit) =>
        Effect.suspend(() => {
          this.#busy--
          if (this.pause === undefined || this.#busy > 0) return Effect.void
          if (Exit.isSuccess(exit)) return Effect.sync(this.#settle)
          // If nothing recovers from the failure, the body fails first.
          return Effect.forkDetach(Effect.andThen(yields, Effect.sync(this.#settle)))
        })
      )
    })
  }

  /** Does something that completes before the run ends, and in which nothing can end the run. */
  critical<A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return this.finishing(Effect.provideService(effect, CurrentSection, { run: this, name }))
  }

  /**
   * Runs an operation that may end the run. Concurrent branches run such operations one after the other, because only
   * one operation can end the run. In a critical section, such an operation is a defect: the section and the operation
   * would wait for each other.
   */
  ending<A, E, R>(what: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.flatMap(CurrentSection, (section) =>
      section?.run !== this
        ? this.#ending.withPermit(Effect.suspend(() => (this.pause === undefined ? effect : this.#paused)))
        : defect(
            `The conversation "${this.place.name}" cannot ${what} in ${section.name}, which has to complete in one run. Do ` +
              "this outside of it."
          )
    )
  }

  /**
   * An operation that begins after the run was paused has to wait for the next run, unless the operation is part of a
   * critical section.
   */
  #unlessPaused<A, E, R>(begin: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    if (this.pause === undefined) return begin()
    return Effect.flatMap(CurrentSection, (section) => (section?.run === this ? begin() : this.#paused))
  }

  /**
   * Ends the run of the body. The body is interrupted, so no operator on failures or causes recovers from the pause.
   */
  pauseBy(pause: Pause): Effect.Effect<never> {
    return Effect.suspend(() => {
      this.pause ??= pause
      return this.#paused
    })
  }

  /** Sends a message. An attempt that repeats the turn does not send the message again. */
  send(content: Content, id: string): Send<Message> {
    const sent = Messages.send({ ...toBody(content), chat_id: this.place.chat_id })
    const named = Journal.named(sent, `conversation ${this.id} ${id}`)
    return this.finishing(Effect.provideService(named, HasUniqueName, true))
  }

  /** Says something once. */
  say(content: Content, name: string | undefined): Send<void> {
    return Effect.withFiber((fiber) => {
      if (name !== undefined || fiber !== this.#root) {
        return this.operation(name ?? this.#nameOf(content), (slot) =>
          this.known(slot) !== undefined
            ? Effect.void
            : Effect.map(this.send(content, slot), () => this.record([slot, "done"]))
        )
      }
      return this.#unlessPaused(() => this.#sayInOrder(content))
    })
  }

  /** Messages without a name are told apart by their order after the last result. */
  #sayInOrder(content: Content): Send<void> {
    const say = () =>
      Effect.map(
        Effect.suspend(() => this.send(content, `${[...this.entries.keys()].at(-1) ?? ""} ${this.said + 1}`)),
        () => {
          this.said++
          this.changed()
        }
      )
    if (!this.#isRepeating) return say()
    this.#keptBack.push(say)
    return Effect.void
  }

  /** The order of concurrent branches can differ, so their messages are told apart by their content. */
  #nameOf(content: Content): string {
    const digest = Hash.string(stringify(content)).toString(36)
    for (let occurrence = 1; ; occurrence++) {
      const name = `say ${digest} ${occurrence}`
      if (!this.#taken.has(name)) return name
    }
  }

  get #paused(): Effect.Effect<never> {
    return Effect.suspend(() => {
      if (this.#isOver) return Effect.interrupt
      if (this.#busy === 0) this.#settle()
      return Effect.interruptible(Effect.never)
    })
  }

  readonly #settle = (): void => void Deferred.doneUnsafe(this.#settled, Effect.succeed(undefined))
}
