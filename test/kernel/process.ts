/** A process of the model: a real kernel, a model of what executes its commands, and handlers that send a message each. */
import type { ClaimedUpdate, CommitResult, Partition as Claimed } from "../../packages/core/src/inbox/InboxStore.ts"
import type { Commands } from "../../packages/core/src/inbox/internal/kernel/state.ts"
import type { Kernel } from "../../packages/core/src/inbox/internal/kernel/kernel.ts"
import type {
  Delivery,
  Outcome,
  Partition,
  Update,
  Written
} from "../../packages/core/src/inbox/internal/kernel/partition.ts"
import type { Write } from "../../packages/core/src/inbox/internal/kernel/write.ts"
import { type Journal, journalOf, type Store } from "./store.ts"
import { keyOf } from "./graph.ts"
import type { Loaded } from "./load.ts"
import { leaseMillis, type Plan, Request, Violation } from "./plan.ts"

/** The world around a process. */
export interface World {
  readonly now: number
  readonly plan: Plan
  readonly loaded: Loaded
  readonly store: Store
  readonly conflicts: ReadonlyArray<string>
  readonly isOrdered: boolean
}

/**
 * - `ready`: the delivery was not pulled. `waiting`: an attempt has ended, and the next one has not begun.
 * - `confirming`: the lease is not certain. `stuck`: the store has refused a record, so the handler is about to be interrupted.
 * - `ending`: the handler is interrupted, and still runs.
 */
type Step =
  | "ready"
  | "confirming"
  | "sleeping"
  | "recording"
  | "lookingUp"
  | "sending"
  | "settling"
  | "refused"
  | "waiting"
  | "stuck"
  | "ending"
  | "over"

/** Steps in which the handler is running. */
const running: ReadonlyArray<Step> = ["confirming", "sleeping", "recording", "lookingUp", "sending", "stuck", "ending"]

/** The delivery of an update, and its handler. */
export class Handler implements Delivery {
  readonly failure = undefined
  readonly id: string
  readonly update: Update<Handler>
  /** The journal of the update, as this process knows it. */
  journal: Journal
  outcome: Outcome | undefined = undefined
  written: Written | undefined = undefined
  step: Step = "waiting"
  /** How many attempts have failed in this process. */
  failures = 0
  /** A handler that sleeps goes on at this time. */
  until = 0
  /** The next attempt begins at this time at the earliest. */
  notBefore = 0
  /** The name under which the store has refused a record. */
  recordedBy = ""
  /** The next action of the handler, unless the journal decides. */
  next: "begin" | "send" | "settle" = "begin"

  constructor(update: Update<Handler>) {
    this.id = update.entry.id
    this.update = update
    this.journal = journalOf(update.entry)
  }

  get isRunning(): boolean {
    return running.includes(this.step)
  }

  knows(stored: ClaimedUpdate): boolean {
    return order[this.journal] >= order[journalOf(stored)]
  }

  start(): boolean {
    deciding.process.checkStart(deciding.world, this.update)
    note("start")(this)
    return true
  }

  interrupt(): void {
    note("interrupt")(this)
  }

  settled(): void {
    note("settled")(this, this.outcome!._tag)
    this.outcome = undefined
  }

  reopen(): void {
    this.outcome = undefined
    note("settled")(this, "refused")
  }

  refused(): boolean {
    this.outcome = undefined
    note("settled")(this, "again")
    return false
  }
}

/** A process has at most one of each of these requests under way. */
const alone: ReadonlyArray<Request["kind"]> = ["claim", "renew", "release", "ask", "count", "releaseAll"]

type Note = readonly [command: string, ...args: ReadonlyArray<unknown>]

/** The process whose kernel decides. */
let deciding: { readonly process: Process; readonly world: World }

const note =
  (command: string) =>
  (...args: ReadonlyArray<unknown>): void =>
    void deciding.process.notes.push([command, ...args])

const order: Readonly<Record<Journal, number>> = { none: 0, started: 1, done: 2 }

const commands: Commands<Handler> = Object.freeze({
  make: (update: Update<Handler>) => new Handler(update),
  isRead: (known: ClaimedUpdate, stored: ClaimedUpdate) => order[journalOf(known)] >= order[journalOf(stored)],
  claim: note("claim"),
  renew: note("renew"),
  commit: note("commit"),
  release: note("release"),
  ask: note("ask"),
  count: note("count"),
  announce: note("announce"),
  lost: note("lost"),
  end: note("end"),
  releaseAll: note("releaseAll")
})

/** The keys of processes that are not changed any more. */
const keys = new WeakMap<Process, { readonly now: number; readonly key: ReadonlyArray<number> }>()

/** How long a retry waits, and how long a slow handler takes. */
const retryMillis = 1500
const slowMillis = 5000

export class Process {
  readonly name: string
  readonly kernel: Kernel<Handler>
  notes: Array<Note> = []
  handlers: Array<Handler> = []
  requests: Array<Request> = []
  isStopped = false
  isOver = false
  hasSource = true
  /** Whether the process was woken since its last claim. */
  isWoken = false
  /** Whether an event has come while commands were carried out. */
  isDirty = false

  constructor(world: World, name: string) {
    this.name = name
    const { crashingAfter = 2, isWoken = false, perChat = 1 } = world.plan
    const options = {
      name,
      isShared: true,
      leaseMillis,
      perChat,
      maxInMemory: 64,
      maxUnsettled: 8,
      crashingAfter,
      isWoken,
      startedAt: world.now
    }
    this.kernel = new world.loaded.Kernel<Handler>(options, commands)
  }

  /** Identifies the state at a time, in two numbers. */
  keyAt(now: number): ReadonlyArray<number> {
    if (keys.get(this)?.now !== now) {
      // The next event sets the time.
      this.kernel.at(now, now)
      const key = keyOf(this, now)
      keys.set(this, { now, key: [key % 2 ** 26, Math.floor(key / 2 ** 26)] })
    }
    return keys.get(this)!.key
  }

  /** Whether the stream is not closed. */
  get isOpen(): boolean {
    return this.kernel.state.isOpen
  }

  get kernelWakeAt(): number {
    return this.isOver ? Infinity : this.kernel.wakeAt
  }

  get wakeAt(): number {
    return this.handlers.reduce(
      (time, { step, until }) => (step === "sleeping" ? Math.min(time, until) : time),
      this.kernelWakeAt
    )
  }

  /** Whether a handler goes on without time. */
  get isBusy(): boolean {
    return (
      this.requests.length > 0 ||
      this.handlers.some(({ step }) => step === "ready" || step === "ending" || step === "refused")
    )
  }

  /** An event, what the kernel decides then, and what follows at once. */
  turn(world: World, event: (kernel: Kernel<Handler>) => void): number {
    if (this.isOver) return 0
    let count = 0
    const { kernel } = this
    deciding = { process: this, world }
    kernel.at(world.now, world.now)
    event(kernel)
    for (let round = 0; ; round++) {
      if (round === 20) throw new Violation(`The kernel of ${this.name} does not come to rest.`)
      this.isDirty = false
      kernel.advance()
      const { notes } = this
      this.notes = []
      count += notes.length
      for (const [command, ...args] of notes) this.execute(command, args)
      if (!this.isDirty) break
    }
    // Deliveries that were not pulled are dropped when the program stops.
    this.handlers = this.handlers.filter(({ isRunning, update }) => isRunning || update.state !== "done")
    this.isOver = kernel.state.phase === "closed"
    if (this.isOver) {
      this.handlers = []
      this.requests = this.requests.filter(({ isAnswered }) => !isAnswered)
      this.hasSource = false
    }
    return count
  }

  execute(command: string, [first, second]: ReadonlyArray<unknown>): void {
    switch (command) {
      case "start": {
        const handler = first as Handler
        if (!this.handlers.includes(handler)) this.handlers.push(handler)
        handler.step = "ready"
        return
      }
      case "interrupt": {
        const handler = first as Handler
        if (handler.isRunning) handler.step = "ending"
        else this.end(handler)
        return
      }
      case "settled": {
        const handler = first as Handler
        if (second === "refused") handler.step = "refused"
        else if (second === "ack") this.end(handler)
        else {
          handler.step = "waiting"
          if (second === "retry") handler.failures++
        }
        return
      }
      case "commit":
        return this.commit(first as Write<Handler>)
      case "renew":
        return void this.send("renew", Object.freeze(first), 0)
      case "end":
        // The stream ends, so its scope closes.
        this.isDirty = true
        return this.kernel.closing.close()
      case "announce":
        return this.wake()
      case "lost":
        return
      case "claim":
        this.isWoken = false
        return void this.send(command, Object.freeze(first))
      default:
        return void this.send(command as Request["kind"], Object.freeze(first ?? {}), second)
    }
  }

  send(kind: Request["kind"], input: unknown, context?: unknown): Request {
    const position = this.requests.findLastIndex((other) => other.kind <= kind) + 1
    if (alone.includes(kind) && this.requests[position - 1]?.kind === kind)
      throw new Violation(`${this.name} asks ${kind} twice at the same time.`)
    const request = new Request(this.name, kind, input, context)
    this.requests.splice(position, 0, request)
    return request
  }

  /** Something can be claimed. */
  wake(): void {
    if (!this.isOver && !this.requests.some(({ kind }) => kind === "wake"))
      this.send("wake", undefined).isAnswered = true
  }

  onWake(kernel: Kernel<Handler>): void {
    this.isWoken = true
    kernel.claiming.woken()
  }

  endSource(kernel: Kernel<Handler>): void {
    this.hasSource = false
    kernel.claiming.sourceEnded(false)
  }

  end(handler: Handler): void {
    handler.step = "over"
    this.handlers = this.handlers.filter((other) => other !== handler)
  }

  commit(write: Write<Handler>): void {
    const commits = this.kernel.results
      .attempt(write)
      .map(({ begun, completed, failed, owner, partitionKey, release, rows }) =>
        Object.freeze({
          begun: [...begun],
          completed: [...completed],
          failed: [...failed],
          owner,
          partitionKey,
          release,
          rows
        })
      )
    for (const { owner, partitionKey } of commits) {
      const held = this.kernel.state.byKey.get(partitionKey)
      if (held === undefined || held.owner !== owner)
        throw new Violation(`${this.name} commits for ${partitionKey}, which it does not hold.`)
    }
    if (commits.length > 0) return void this.send("commit", Object.freeze(commits), write)
    this.isDirty = true
    this.kernel.results.committed(write, [])
  }

  // Answers.

  receive(world: World, at: number): void {
    const request = this.requests.splice(at, 1)[0]!
    const { answer, context, kind } = request
    this.turn(world, (kernel) => {
      switch (kind) {
        case "claim":
          return kernel.claiming.claimed(answer as ReadonlyArray<Claimed>)
        case "commit":
          return kernel.results.committed(context as Write<Handler>, answer as ReadonlyArray<CommitResult>)
        case "renew":
          kernel.leases.renewed(answer as Parameters<typeof kernel.leases.renewed>[0])
          return this.onRenewal(world)
        case "release":
          if (answer === true) this.wake()
          return kernel.state.owners.released()
        case "ask":
          return kernel.claiming.answered(answer as number | undefined)
        case "count":
          return kernel.claiming.counted(answer as number)
        case "wake":
          return this.onWake(kernel)
        case "releaseAll":
          return kernel.closing.closed()
        case "pause":
          if (context === undefined) return kernel.claiming.again()
          this.isDirty = true
          return this.commit(context as Write<Handler>)
        default:
          return this.onAnswer(world, context as Handler, request)
      }
    })
  }

  /** A request fails: it was not carried out, or its answer is lost. The process repeats it after a pause. */
  fail(world: World, at: number): void {
    const request = this.requests.splice(at, 1)[0]!
    const { context, kind } = request
    this.turn(world, (kernel) => {
      const pause = (write?: Write<Handler>): void => void (this.send("pause", undefined, write).isAnswered = true)
      switch (kind) {
        case "claim":
          kernel.claiming.failed()
          return pause()
        case "commit":
          kernel.results.failed(context as Write<Handler>)
          if (!this.isOpen) return kernel.results.refused(context as Write<Handler>, "The stream is closed.")
          return pause(context as Write<Handler>)
        case "renew":
          kernel.leases.renewed(undefined)
          return this.onRenewal(world)
        case "release":
          return kernel.state.owners.released()
        case "ask":
          return kernel.claiming.answered(0)
        case "count":
          return kernel.claiming.counted(undefined)
        case "wake":
          return
        case "releaseAll":
          return kernel.closing.closed()
        default:
          return this.onFailure(world, context as Handler, request)
      }
    })
  }

  // Handlers: begin, record the start, send, record the answer, settle.

  pull(world: World): void {
    this.turn(world, (kernel) => {
      for (const update of kernel.pulled()) {
        const handler = update.delivery
        this.checkHandler(world, handler)
        kernel.watched(update)
        this.isDirty = true
        handler.next = "begin"
        handler.step = "sleeping"
        handler.until = world.now + slowMillis
        if (this.name !== "A" || world.plan.slow?.includes(handler.id) !== true) this.goOn(world, handler)
      }
    })
  }

  goOn(world: World, handler: Handler): void {
    const { failures, id, journal, next, step, update } = handler
    if (step === "ending" || step === "over") return
    const isFailing = failures === 0 && update.entry.attempts === 0 && world.plan.failing?.includes(id) === true
    if (isFailing) return this.settle(world, handler, { _tag: "retry", after: retryMillis })
    if (journal === "done" || next === "settle") return this.settle(world, handler, { _tag: "ack" })
    if (!this.isValid(world, update.partition)) {
      handler.step = "confirming"
      this.isDirty = true
      return this.kernel.leases.request()
    }
    if (next === "send") this.ask(handler, "sending", "send", id)
    else if (journal === "started") this.ask(handler, "lookingUp", "lookUp", id)
    else this.record(handler, "started")
  }

  ask(handler: Handler, step: Step, kind: Request["kind"], input: unknown): void {
    handler.step = step
    this.send(kind, input, handler)
  }

  record(handler: Handler, state: Journal): void {
    const { key, owner } = handler.update.partition
    this.ask(handler, "recording", "record", Object.freeze([owner, key, handler.id, state]))
  }

  onAnswer(world: World, handler: Handler, { answer, input, kind }: Request): void {
    if (!handler.isRunning || handler.step === "ending") return
    if (kind === "send") {
      handler.journal = "done"
      return this.record(handler, "done")
    }
    if (kind === "lookUp" && answer === true) handler.journal = "done"
    else if (kind === "record" && answer === "leaseLost") return this.onRefusedRecord(handler, input)
    else handler.next = "send"
    if (kind === "record" && handler.journal === "none") handler.journal = "started"
    this.goOn(world, handler)
  }

  onFailure(world: World, handler: Handler, { input, kind }: Request): void {
    if (!handler.isRunning || handler.step === "ending") return
    if (kind === "record") return this.record(handler, (input as Parameters<World["store"]["record"]>)[3])
    // The call may have been carried out.
    handler.next = "begin"
    this.goOn(world, handler)
  }

  /** The chat may be claimed again under another name. Otherwise the store has lost the update, if the lease is ours. */
  onRefusedRecord(handler: Handler, input: unknown): void {
    const [owner, , , state] = input as Parameters<World["store"]["record"]>
    if (handler.update.partition.owner !== owner) return this.record(handler, state)
    handler.step = "stuck"
    handler.recordedBy = owner
    this.isDirty = true
    this.kernel.leases.request()
  }

  onRenewal(world: World): void {
    for (const handler of this.handlers) {
      const { isLost, owner } = handler.update.partition
      if (handler.step === "confirming") this.goOn(world, handler)
      else if (handler.step === "stuck" && !isLost) {
        this.isDirty = true
        if (owner !== handler.recordedBy) this.record(handler, handler.journal === "none" ? "started" : handler.journal)
        else this.kernel.leases.giveUp(handler.update.partition, owner)
      }
    }
  }

  settle(world: World, handler: Handler, outcome: Outcome): void {
    const { id, update } = handler
    const isConflicting = outcome._tag === "ack" && world.conflicts.includes(id)
    handler.written = isConflicting
      ? { rows: [{ key: `state/${id}`, row: undefined, revision: "1", expected: null }] }
      : undefined
    if (handler.isRunning) this.kernel.unwatched(update)
    handler.outcome = outcome
    handler.step = "settling"
    handler.notBefore = outcome._tag === "retry" ? world.now + outcome.after : 0
    this.isDirty = true
    this.kernel.commits.settle({ updates: [update], end: () => {} })
  }

  /** The handler of an interrupted update has ended. */
  onHandlerEnd(world: World, position: number): void {
    const handler = this.handlers[position]!
    this.turn(world, (kernel) => {
      this.end(handler)
      kernel.unwatched(handler.update)
    })
  }

  onHandlerNext(world: World, position: number): void {
    this.turn(world, () => this.goOn(world, this.handlers[position]!))
  }

  onTimer(world: World): void {
    const commands = this.turn(world, () => {})
    if (commands === 0 && this.kernel.wakeAt <= world.now)
      throw new Violation(`The timer of ${this.name} changes nothing, and is due again.`)
  }

  // Rules.

  isValid(world: World, partition: Partition<Handler>): boolean {
    this.kernel.at(world.now, world.now)
    return this.kernel.leases.isValid(partition)
  }

  /** When a handler begins: its update is queued. */
  checkHandler(world: World, { id, update }: Handler): void {
    const { key, owner } = update.partition
    if (world.store.lease(key).owner === owner && !world.store.isQueued(id)) {
      throw new Violation(`${this.name} handles ${id} again, which is acknowledged.`)
    }
  }

  /** When an update begins: it is marked, everything before it is written, and its chat is held. */
  checkStart(world: World, update: Update<Handler>): void {
    const { delivery, entry, isRecorded, partition } = update
    const { begun, owner, queue } = world.store.lease(partition.key)
    const fail = (rule: string): never => {
      throw new Violation(`${entry.id} begins in ${this.name} ${rule}.`)
    }
    if (this.isStopped) fail("after the stop")
    if (this.kernel.state.byKey.get(partition.key) !== partition) fail("although its chat is not held")
    if (world.now < delivery.notBefore) fail("before its time")
    if (
      this.handlers.some((other) => other.isRunning && other.update.partition.key === partition.key) &&
      world.isOrdered
    ) {
      fail("beside another handler of its chat")
    }
    // A process that does not know of a loss begins, but sends nothing.
    if (owner !== partition.owner) return
    if (!begun.includes(entry.id) && !isRecorded) fail("without a mark")
    if (world.isOrdered && queue[0]?.id !== entry.id) fail("before another update of its chat is written")
  }

  check(world: World): void {
    if (!this.isOpen) return
    if (this.isWoken && this.kernel.claiming.isWaiting) throw new Violation(`A wake-up of ${this.name} is lost.`)
    for (const { id, step, update } of this.handlers) {
      if (update.partition.isLost && step !== "ending")
        throw new Violation(`The handler of ${id} in ${this.name} goes on after the loss of its chat.`)
      if (update.state === "delayed" && this.kernel.wakeAt > update.dueAt)
        throw new Violation(`Nothing wakes ${this.name} when ${id} begins again.`)
    }
    const isRenewing = this.requests.some(({ kind }) => kind === "renew")
    for (const partition of this.kernel.state.byKey.values()) {
      const { key, owner, state } = partition
      const lease = world.store.lease(key)
      if (state !== "releasing" && this.isValid(world, partition) && lease.owner !== owner) {
        throw new Violation(`${this.name} relies on a lease of ${key} that the store does not have.`)
      }
      const latest = Math.max(lease.until - (leaseMillis * 2) / 3, world.now + 1000)
      if (lease.owner === owner && !isRenewing && this.kernel.wakeAt > latest)
        throw new Violation(`${this.name} does not renew the lease of ${key} in time.`)
    }
  }

  /** Renewals do not keep leases that nobody holds. */
  checkRenewal(world: World, owner: string): void {
    for (const lease of world.store.leases) {
      if (lease.owner !== owner || this.kernel.state.byKey.get(lease.key)?.owner === owner) continue
      if (++lease.kept > Math.max(1, world.plan.faults.losses))
        throw new Violation(`${this.name} keeps a lease of ${lease.key} that nobody holds.`)
    }
  }
}
