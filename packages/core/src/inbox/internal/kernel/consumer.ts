import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Pull from "effect/Pull"
import type { NonEmptyReadonlyArray } from "effect/Array"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomId } from "../../../base/internal/randomId.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import type { OutageError } from "../../../client/Outage.ts"
import { chatOf, type Update } from "../../../model/Update.ts"
import type { Inbox } from "../../Inbox.ts"
import type { InboxStore } from "../../InboxStore.ts"
import { hooks } from "../hooks.ts"
import * as deadLetters from "../consumer/deadLetters.ts"
import type { Common, Handling } from "../consumer/handling.ts"
import { monoNow } from "../consumer/lease.ts"
import { type HandlerMetrics, makeHandlerMetrics } from "../consumer/metrics.ts"
import { isTemporary, persist } from "../consumer/persist.ts"
import * as journals from "../journal/journal.ts"
import { reporting } from "../log/reporting.ts"
import type { Claimed, Queued } from "./delivery.ts"
import { Emitter } from "./emitter.ts"
import { Interpreter } from "./interpreter.ts"
import { Kernel } from "./kernel.ts"
import { Leased } from "./leased.ts"
import * as monitoring from "./monitoring.ts"
import { Turns } from "./turns.ts"

export interface Options<R> extends deadLetters.Options<R> {
  readonly perChat: number
  readonly maxInMemory: number
  readonly maxUnsettled: number
  readonly unsettledAfter: Duration.Duration
  /** The services that are provided to the effects that handle the updates. */
  readonly services: Context.Context<never> | undefined
  readonly onWaiting?: (() => void) | undefined
}

const kernelOptions = (inbox: Inbox["Service"], options: Options<never>) => {
  const { maxCrashes, maxInMemory, maxUnsettled, perChat } = options
  const { isShared, listen } = inbox.store
  return {
    perChat,
    maxInMemory,
    maxUnsettled,
    crashingAfter: Math.min(2, maxCrashes - 1),
    isShared,
    isWoken: listen !== undefined,
    // Without other processes, no lease has to end before this process does.
    leaseMillis: isShared ? Duration.toMillis(inbox[hooks].leaseDuration) : Infinity
  }
}

interface Given {
  readonly clock: Clock.Clock
  readonly context: Context.Context<never>
  readonly inbox: Inbox["Service"]
  readonly name: string
  readonly openJournal: Effect.Success<ReturnType<typeof journals.make>>
  readonly options: Options<never>
  readonly source: Fiber.Fiber<void, unknown>
}

/** A consumer of an inbox: a kernel, what executes its commands, and what all its deliveries share. */
export class Consumer {
  readonly #given: Given
  readonly inbox: Inbox["Service"]
  readonly store: InboxStore["Service"]
  readonly clock: Clock.Clock
  readonly metrics: HandlerMetrics
  readonly dead: deadLetters.DeadLetters
  readonly openJournal: Given["openJournal"]
  readonly kernel: Kernel<Queued>
  readonly turns = new Turns(this)
  readonly interpreter = new Interpreter(this)
  readonly emitter = new Emitter(this)
  readonly leased = new Leased(this)
  readonly monitor: ReturnType<typeof monitoring.make>
  readonly #common: Common = { base: undefined, context: undefined }
  /** Fibers of updates that become dead letters without being emitted. */
  readonly #background = new Set<Fiber.Fiber<void>>()
  /** Updates that were acknowledged in this turn. */
  #handled: Array<Update> = []
  #onClosed: () => void = () => undefined

  constructor(given: Given) {
    const { clock, context, inbox, name, openJournal, options } = given
    this.#given = given
    this.inbox = inbox
    this.store = inbox.store
    this.clock = clock
    this.metrics = makeHandlerMetrics(context)
    this.dead = deadLetters.make(context, options)
    this.openJournal = openJournal
    const startedAt = monoNow(clock)
    this.kernel = new Kernel<Queued>({ ...kernelOptions(inbox, options), name, startedAt }, this.interpreter)
    this.monitor = monitoring.make(this, options.unsettledAfter)
  }

  /** Starts a fiber. A defect of the fiber ends the bot. */
  readonly run = <A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> =>
    watchFiber(Effect.runForkWith(this.#given.context)(effect), this.fail)

  /** Settles an update that is not emitted. */
  inBackground(settled: Effect.Effect<void, StoreError>): void {
    const fiber = this.run(persist(settled))
    this.#background.add(fiber)
    fiber.addObserver(() => this.#background.delete(fiber))
  }

  #interruptBackground(): void {
    for (const fiber of this.#background) fiber.interruptUnsafe()
  }

  /** Something can be claimed. A wake-up during a claim is for the next claim. */
  readonly wake = (hasTimers: boolean): void => {
    const { claiming } = this.kernel
    const { isWaiting } = claiming
    if (hasTimers) claiming.polling.timersChanged()
    claiming.woken()
    if (isWaiting) this.turns.turn()
  }

  /** Called after a turn, in which other turns may begin. */
  onTurn(): void {
    if (this.#handled.length > 0) this.metrics.handled(this.#handled.splice(0))
    this.emitter.wake()
    this.leased.onTurn()
    if (this.kernel.state.phase === "closed") this.#onClosed()
  }

  /** The acknowledgement or the dead letter of an update is written. */
  onDone(queued: Queued): void {
    if (queued.outcome?._tag === "ack") this.#handled.push(queued.value)
    else this.run(this.dead.announce(queued))
  }

  /** All is handled, except the updates of these partitions, which need a newer program. */
  onEnd(waiting: ReadonlyArray<string>): void {
    if (waiting.length > 0) this.#given.options.onWaiting?.()
    this.emitter.end(this.#given.source.pollUnsafe() ?? Exit.void)
  }

  /** The updates of a partition that have the same chat share their context. */
  handlingOf({ partition }: Claimed, update: Update | undefined): Handling {
    const chat_id = update && chatOf(update)
    const last = partition.last?.handling
    if (last !== undefined && last.chat_id === chat_id) return last
    const lease = this.store.isShared
      ? { confirm: this.leased.confirm(partition), isHeld: () => this.leased.isValid(partition) }
      : undefined
    const { services } = this.#given.options
    return { chat_id, services, lease, common: this.#common, base: undefined, context: undefined }
  }

  /** Ends the stream of deliveries with a defect. Handlers are interrupted, because their leases may not be renewed any more. */
  readonly fail = (cause: Cause.Cause<never>): void => {
    const failed = Effect.sync(() => {
      this.emitter.end(Exit.failCause(cause))
      if (!this.turns.isBroken) this.turns.event(() => this.kernel.closing.fail())
      this.emitter.wake()
    })
    // The writes of this turn are carried out.
    Effect.runForkWith(this.#given.context)(Effect.andThen(Effect.yieldNow, failed))
  }

  /** Emits no more deliveries, accepts no more updates, and releases updates that have not been emitted. */
  readonly stop = Effect.suspend(() => {
    if (this.kernel.state.isStopping) return Effect.void
    this.#interruptBackground()
    this.turns.turn()
    this.turns.event(() => this.kernel.closing.stop())
    return Effect.andThen(this.inbox[hooks].close, Fiber.interrupt(this.#given.source))
  })

  /** Gives everything back. */
  readonly close = Effect.callback<void>((resume) => {
    if (this.turns.isBroken) return resume(Effect.void)
    this.#onClosed = () => resume(Effect.void)
    this.#interruptBackground()
    this.turns.event(() => this.kernel.closing.close())
  })

  /** Lets the store wake this process. Another process may have set a timer. */
  get listening(): Effect.Effect<void, never, Scope.Scope> {
    const { polling } = this.kernel.claiming
    const { listen } = this.store
    if (!this.store.isShared || listen === undefined) return Effect.void
    const registered = Effect.map(
      listen(() => this.wake(true)),
      () => void (polling.isListening = true)
    )
    return Effect.ignore(this.inbox[hooks].outage.retryOrDie(registered, isTemporary))
  }
}

/** Runs a source, and emits the updates of an inbox as deliveries. */
export const open = Effect.fnUntraced(function* <E, R>(
  inbox: Inbox["Service"],
  updates: Effect.Effect<void, E>,
  options: Options<R>
) {
  const { close, died, log, open, wakeUp } = inbox[hooks]
  yield* open
  const program = (yield* Effect.context<R>()) as Context.Context<never>
  const context = options.services === undefined ? program : Context.merge(program, options.services)
  const clock = yield* Clock.Clock
  const openJournal = yield* journals.make(inbox[hooks])
  const source = yield* Effect.forkScoped(updates)
  const name = yield* randomId
  const consumer = new Consumer({
    clock,
    context,
    inbox,
    name,
    openJournal,
    options: options as Options<never>,
    source
  })
  const { emitter, interpreter, kernel, monitor, turns } = consumer
  yield* wakeUp(consumer.wake)
  for (const effect of [consumer.listening, died, reporting(log, context), monitor.run, interpreter.claiming])
    watchFiber(yield* Effect.forkScoped(effect, { startImmediately: true }), consumer.fail)
  // Claims that are under way and renewals go on until everything is released.
  const unhold = log.process.holds(() => kernel.state.byKey.keys())
  const ended = Effect.sync(() => {
    unhold()
    turns.end()
  })
  yield* Effect.addFinalizer(() => Effect.andThen(Effect.andThen(close, consumer.close), ended))
  turns.turn()
  source.addObserver((exit) => turns.event(() => kernel.claiming.sourceEnded(Exit.isFailure(exit))))
  return Stream.fromPull(Effect.succeed(emitter.pull as Pull.Pull<NonEmptyReadonlyArray<Queued>, E | OutageError>))
  // An interruption cannot come between the first claim and the finalizer that releases the claimed partitions.
}, Effect.uninterruptible)
