import * as Effect from "effect/Effect"
import type { BotApi } from "../../../client/BotApi.ts"
import * as Journal from "../../../inbox/Journal.ts"
import type { Message } from "../../../model/Message.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import type { Content, SendError } from "../../Conversation.ts"
import type { UserId } from "../../../model/User.ts"
import type { Prediction } from "../../../inbox/Rehearsal.ts"
import { HasUniqueName } from "../../../client/internal/journal/current.ts"
import { Body } from "./body.ts"
import { type Event, toBody } from "./event.ts"
import { type Name, OperationNames } from "./operationNames.ts"
import type { Entry, Kept, Record, Waiting } from "./record.ts"
import type { Storing } from "./storing.ts"
import type { Place } from "./turn.ts"

type Send<A> = Effect.Effect<A, SendError, BotApi>

/** How a run begins. */
export interface Beginning {
  /** Whether an answer was forgotten, so that messages that are kept back count as sent. */
  readonly isBack: boolean
  /** Whether an earlier attempt of the update has ended without an acknowledgement. */
  readonly isRepeated: boolean
  readonly storing: Storing
  /** Receives the next operation of the run after the repeated operations. The operation is not executed. */
  readonly rehearse?: ((prediction: Prediction) => void) | undefined
}

/** Ends the run of a rehearsal. */
export const predict = ({ beginning, body }: Run, outcome: Prediction["outcome"], detail: string) =>
  Effect.suspend(() => {
    beginning.rehearse?.({ outcome, detail })
    return body.pauseBy({ _tag: "Waiting" })
  })

/** Sends a message of the body, except in a rehearsal. */
const sendUnlessRehearsed = (run: Run, content: Content, id: string): Send<void> =>
  run.beginning.rehearse === undefined ? Effect.asVoid(run.send(content, id)) : Effect.void

/**
 * A run of the body of a conversation: the results that it repeats, and the record that it changes.
 *
 * Until the operation that waits is reached, the run repeats the earlier runs: operations return their results, and
 * messages without a name are kept back. If the code has changed and the operation is not reached, the new messages are
 * sent before the next operation.
 */
export class Run {
  readonly place: Place
  readonly names: OperationNames
  readonly body: Body
  readonly id: string
  readonly entries: Map<string, Entry>
  readonly beginning: Beginning
  readonly #record: Record
  #keptBack: Array<() => Send<void>> = []
  #last: string | undefined
  #isRepeating: boolean
  waiting: Waiting | undefined
  said: number
  kept: Kept | undefined
  event: Event | undefined
  isChanged = false
  /** The question whose buttons are to be removed. */
  buttons: Waiting | undefined

  constructor(place: Place, record: Record, event: Event | undefined, beginning: Beginning) {
    this.place = place
    this.names = new OperationNames(place.conversation.name)
    this.body = new Body(place.conversation.name)
    this.id = record.run
    this.entries = new Map()
    for (const entry of record.entries) this.entries.set(entry[0], entry)
    this.#record = record
    this.beginning = beginning
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
    const { kept: _kept, said: _said, unfinished: _unfinished, waiting: _waiting, ...record } = this.#record
    return {
      ...record,
      entries: [...this.entries.values()],
      ...(this.waiting === undefined ? {} : { waiting: this.waiting }),
      ...(this.said === 0 ? {} : { said: this.said }),
      ...(this.kept === undefined ? {} : { kept: this.kept })
    }
  }

  /** Runs an operation with a name that no other operation of this run has. */
  operation<A, E, R>(name: Name, run: (slot: string) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => this.body.unlessPaused(() => this.names.start(name, run)))
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
    this.beginning.storing.changed()
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
      return this.beginning.isRepeated ? this.body.finishing(this.beginning.storing.mark) : Effect.void
    })
  }

  /** Stores the results so far, before an operation that must not run without stored results. */
  get store(): Effect.Effect<void> {
    return this.beginning.storing.store(
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

  /** A new operation begins: messages that were kept back and not sent yet come first. */
  get begin(): Send<void> {
    return Effect.suspend(() => {
      if (!this.#isRepeating) return Effect.void
      const last = [...this.entries.keys()].at(-1)
      const sent = this.beginning.isBack ? this.#keptBack.length : this.#last === last ? this.said : 0
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

  /** Sends a message. An attempt that repeats the turn does not send the message again. */
  send(content: Content, id: string): Send<Message> {
    const sent = Messages.send({ ...toBody(content), chat_id: this.place.chat_id })
    const named = Journal.named(sent, `conversation ${this.id} ${id}`)
    return this.body.finishing(Effect.provideService(named, HasUniqueName, true))
  }

  /** Says something once. */
  say(content: Content, name: string | undefined): Send<void> {
    return Effect.withFiber((fiber) => {
      if (name !== undefined || !this.body.isRoot(fiber)) {
        return this.operation(name ?? (() => this.names.ofContent(content)), (slot) =>
          this.known(slot) !== undefined
            ? Effect.void
            : Effect.map(sendUnlessRehearsed(this, content, slot), () => this.record([slot, "done"]))
        )
      }
      return this.body.unlessPaused(() => this.#sayInOrder(content))
    })
  }

  /** Messages without a name are told apart by their order after the last result. */
  #sayInOrder(content: Content): Send<void> {
    const say = () =>
      Effect.map(
        Effect.suspend(() =>
          sendUnlessRehearsed(this, content, `${[...this.entries.keys()].at(-1) ?? ""} ${this.said + 1}`)
        ),
        () => {
          this.said++
          this.changed()
        }
      )
    if (!this.#isRepeating) return say()
    this.#keptBack.push(say)
    return Effect.void
  }
}
