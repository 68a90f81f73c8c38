/** Two processes with real kernels, and a model of the store and of the platform. All that happens between them is an action. */
import type { Claim, Commit, CommitResult } from "../../packages/core/src/inbox/InboxStore.ts"
import type { Loaded } from "./load.ts"
import { clone, epoch, keyOf } from "./graph.ts"
import { type Faults, type Kind, leaseMillis, type Plan, Request, Violation } from "./plan.ts"
import { Process } from "./process.ts"
import { Store } from "./store.ts"

/** Whether a request changes something. */
const isChange = (kind: Kind): boolean => !["ask", "count", "lookUp", "pause", "wake"].includes(kind)

/** One step of the world. Actions that are no faults happen at some time, if nothing else does. */
export interface Action {
  readonly label: () => string
  readonly isFault: boolean
  readonly run: (world: World) => void
}

const nothing = { completed: [], failed: [], begun: [] }

/** The store or the platform carries out a request. */
const carryOut = (world: World, { by, input, kind }: Request, process: Process | undefined): unknown => {
  const { now, store } = world
  const leases = input as ReadonlyArray<{ readonly owner: string; readonly partitionKey: string }>
  switch (kind) {
    case "claim":
      return store.claim(input as Claim, now)
    case "commit":
      return Object.freeze((input as ReadonlyArray<Commit>).map((commit) => world.commit(commit)))
    case "renew":
      return (input as ReadonlyArray<string>).map((owner) => {
        if (process !== undefined) process.checkRenewal(world, owner)
        return [owner, store.renew(owner, leaseMillis, now)]
      })
    case "release":
      return leases.some((lease) => store.commit({ ...lease, ...nothing, release: true }) === "applied")
    case "ask":
      return store.untilNext(now)
    case "count":
      return store.queued
    case "releaseAll":
      for (const owner of input as ReadonlyArray<string>) store.renew(owner, 0, now)
      return undefined
    case "record":
      return store.record(...(input as Parameters<typeof store.record>))
    case "lookUp":
      return world.messages.includes(input as string)
    case "send":
      return world.deliver(input as string, by)
    default:
      return undefined
  }
}

/** The state of everything. Worlds share the processes that an action does not touch. */
export class World {
  readonly plan: Plan
  readonly loaded: Loaded
  now = epoch
  store: Store
  processes: ReadonlyArray<Process> = []
  /** The processes that belong to this world alone. */
  readonly #own = new Set<Process>()
  /** Requests of killed processes, which can still be carried out. Nobody gets their answers. */
  orphans: ReadonlyArray<Request> = []
  /** The updates whose message the platform has, in order. */
  messages: ReadonlyArray<string> = []
  left: Faults
  isArriving: boolean
  isEnding: boolean
  conflicts: ReadonlyArray<string>

  constructor(plan: Plan, loaded: Loaded) {
    this.plan = plan
    this.loaded = loaded
    this.store = new Store(plan.chats)
    this.left = plan.faults
    this.isArriving = plan.arriving !== undefined
    this.isEnding = plan.ends !== undefined
    this.conflicts = plan.conflicting ?? []
  }

  static start(plan: Plan, loaded: Loaded): World {
    const world = new World(plan, loaded)
    for (const name of ["A", "B"]) world.begin(world.processes.length, name)
    return (plan.given ?? []).reduce(
      (world, label) => world.after(world.actions().find((action) => action.label() === label)!),
      world
    )
  }

  /** Returns the world after an action. */
  after({ run }: Action): World {
    const { conflicts, isArriving, isEnding, left, loaded, messages, now, orphans, plan, processes, store } = this
    const next = new World(plan, loaded)
    Object.assign(next, {
      conflicts,
      isArriving,
      isEnding,
      left,
      messages,
      now,
      orphans,
      processes,
      store: clone(store)
    })
    run(next)
    next.check()
    return next
  }

  /** Identifies the state. */
  get key(): number {
    const { conflicts, isArriving, isEnding, left, messages, now, orphans, processes, store } = this
    const keys = processes.flatMap((process) => process.keyAt(now))
    return keyOf([conflicts, isArriving, isEnding, left, messages, orphans, store, ...keys], now)
  }

  get isOrdered(): boolean {
    return this.plan.perChat === undefined || this.plan.perChat === 1
  }

  get requests(): ReadonlyArray<Request> {
    return [...this.orphans, ...this.processes.flatMap(({ requests }) => requests)]
  }

  /** Returns a process, which can be changed. */
  own(index: number): Process {
    const process = this.processes[index]!
    if (this.#own.has(process)) return process
    const copy = clone(process)
    this.#own.add(copy)
    this.processes = this.processes.with(index, copy)
    return copy
  }

  begin(index: number, name: string): void {
    const process = new Process(this, name)
    this.#own.add(process)
    this.processes = [...this.processes.slice(0, index), process, ...this.processes.slice(index + 1)]
    process.turn(this, (kernel) => {
      kernel.claiming.polling.isListening = this.plan.isWoken === true
      if (this.plan.isFinite === true) process.endSource(kernel)
    })
  }

  /** Whether something happens without time. */
  get isBusy(): boolean {
    return this.orphans.length > 0 || this.processes.some((process) => process.isBusy || process.wakeAt <= this.now)
  }

  /** The next time at which a process or a handler goes on. */
  get nextTimer(): number {
    return Math.min(...this.processes.map(({ wakeAt }) => (wakeAt > this.now ? wakeAt : Infinity)))
  }

  /** All actions that can happen now, those that are no faults first. */
  actions(): ReadonlyArray<Action> {
    const all: Array<Action> = []
    const add = (label: () => string, run: (world: World) => void): void =>
      void all.push({ label, run, isFault: false })
    this.orphans.forEach((request, at) => {
      if (this.canCarryOut(request, this.orphans, at)) {
        add(
          () => `${request.kind} of ${request.by} (killed) is carried out`,
          (world) => world.carryOutOrphan(at)
        )
      }
    })
    this.processes.forEach((process, index) => {
      const { handlers, name, requests } = process
      requests.forEach((request, at) => {
        const { isAnswered, kind } = request
        if (isAnswered)
          add(
            () => `${name} gets the answer to ${kind}`,
            (world) => world.own(index).receive(world, at)
          )
        else if (this.canCarryOut(request, requests, at))
          add(
            () => `${kind} of ${name} is carried out`,
            (world) => world.carryOut(index, at)
          )
      })
      handlers.forEach(({ id, step, until }, at) => {
        if (step === "ending" && !requests.some((request) => request.isSending(id))) {
          add(
            () => `the interrupted handler of ${id} in ${name} ends`,
            (world) => world.own(index).onHandlerEnd(world, at)
          )
        } else if (step === "refused" || (step === "sleeping" && until <= this.now)) {
          add(
            () => `the handler of ${id} in ${name} goes on`,
            (world) => world.own(index).onHandlerNext(world, at)
          )
        }
      })
      if (handlers.some(({ step }) => step === "ready"))
        add(
          () => `${name} pulls`,
          (world) => world.own(index).pull(world)
        )
      if (process.kernelWakeAt <= this.now)
        add(
          () => `the timer of ${name}`,
          (world) => world.own(index).onTimer(world)
        )
    })
    if (this.isArriving)
      add(
        () => `${this.plan.arriving} arrives`,
        (world) => world.arrive()
      )
    else if (this.store.queued === 0 && this.processes.some(({ hasSource }) => hasSource)) {
      add(
        () => "the sources end",
        (world) => world.endSources()
      )
    }
    const { isBusy, nextTimer } = this
    if (nextTimer < Infinity && !isBusy)
      add(
        () => "time passes",
        (world) => void (world.now = nextTimer)
      )
    this.#addFaults(all, isBusy ? nextTimer : Infinity)
    return all
  }

  #addFaults(all: Array<Action>, nextTimer: number): void {
    const { left, plan, processes } = this
    const add = (label: () => string, run: (world: World) => void): void => void all.push({ label, run, isFault: true })
    const fault = (kind: keyof Faults, label: () => string, run: (world: World) => void): void => {
      if (left[kind] === 0) return
      add(label, (world) => {
        world.left = { ...left, [kind]: left[kind] - 1 }
        run(world)
      })
    }
    this.orphans.forEach(({ by, kind }, at) => {
      add(
        () => `${kind} of ${by} (killed) is never carried out`,
        (world) => void (world.orphans = world.orphans.toSpliced(at, 1))
      )
    })
    processes.forEach(({ isOver, name, requests }, index) => {
      requests.forEach(({ isAnswered, kind }, at) => {
        if (kind === "pause") return
        const label = (): string => `${isAnswered ? "the answer to " : ""}${kind} of ${name} is lost`
        fault("losses", label, (world) => world.own(index).fail(world, at))
      })
      if (!isOver)
        fault(
          "kills",
          () => `${name} is killed`,
          (world) => world.kill(index)
        )
    })
    const { ends } = plan
    if (this.isEnding && ends !== undefined && !processes[0]!.isOver)
      add(
        () => `A: ${ends}`,
        (world) => world.end(ends)
      )
    // A call is carried out within its time limit, or never, and leases are longer.
    if (this.requests.some((request) => request.isSending())) return
    if (nextTimer < Infinity) {
      fault(
        "delays",
        () => "time passes, although something is under way",
        (world) => void (world.now = nextTimer)
      )
    }
    for (const until of new Set(this.store.leases.map(({ owner, until }) => (owner === undefined ? 0 : until)))) {
      if (until <= this.now) continue
      fault(
        "expiries",
        () => `${until - this.now} ms pass: a lease ends`,
        (world) => void (world.now = until)
      )
    }
  }

  /** Commits of a process are in order. A look-up waits for calls that are under way. */
  canCarryOut({ by, input, kind }: Request, requests: ReadonlyArray<Request>, at: number): boolean {
    if (kind === "lookUp") return !this.requests.some((request) => request.isSending(input as string))
    return kind !== "commit" || !requests.slice(0, at).some((other) => other.kind === kind && other.by === by)
  }

  endSources(): void {
    this.processes.forEach(({ hasSource }, index) => {
      const process = this.own(index)
      if (hasSource) process.turn(this, (kernel) => process.endSource(kernel))
    })
  }

  arrive(): void {
    this.isArriving = false
    this.store.enqueue(this.store.leases.at(-1)!.key, this.plan.arriving!)
    // The process whose source has the update wakes itself. The other one is woken, or polls.
    const process = this.own(0)
    process.turn(this, (kernel) => process.onWake(kernel))
    if (this.plan.isWoken === true) this.own(1).wake()
  }

  carryOut(index: number, at: number): void {
    const process = this.own(index)
    const request = process.requests[at]!
    this.#waking(index, () => (request.answer = carryOut(this, request, process)))
    request.isAnswered = true
  }

  carryOutOrphan(at: number): void {
    const request = this.orphans[at]!
    this.orphans = this.orphans.toSpliced(at, 1)
    this.#waking(-1, () => carryOut(this, request, undefined))
  }

  /** The store wakes the other processes if an operation makes updates claimable. */
  #waking(index: number, operation: () => void): void {
    const claimable = (): number =>
      this.store.leases.filter(({ owner, queue }) => owner === undefined && queue.length > 0).length
    const before = claimable()
    operation()
    if (this.plan.isWoken !== true || claimable() <= before) return
    for (let other = 0; other < 2; other++) if (other !== index) this.own(other).wake()
  }

  /** A commit that writes rows conflicts once with another write. */
  commit(commit: Commit): CommitResult {
    const [conflict] = commit.rows === undefined ? [] : commit.completed.filter(({ id }) => this.conflicts.includes(id))
    if (conflict === undefined || this.store.lease(commit.partitionKey).owner !== commit.owner)
      return this.store.commit(commit)
    this.conflicts = this.conflicts.filter((id) => id !== conflict.id)
    return "conflict"
  }

  /** The platform creates a message. */
  deliver(id: string, by: string): void {
    const chat = this.chats.find((ids) => ids.includes(id))!
    if (this.messages.includes(id)) throw new Violation(`The message of ${id} is sent twice, by ${by} the last time.`)
    this.messages = [...this.messages, id]
    const sent = this.messages.filter((other) => chat.includes(other))
    if (this.isOrdered && sent.some((other, index) => chat[index] !== other))
      throw new Violation(`The message of ${id} is sent before others of its chat.`)
  }

  get chats(): ReadonlyArray<ReadonlyArray<string>> {
    const { arriving, chats } = this.plan
    return arriving === undefined
      ? chats
      : chats.map((ids, index) => (index === chats.length - 1 ? [...ids, arriving] : ids))
  }

  /** Whether the store has a lease under a name of a process. */
  #isLeased(name: string): boolean {
    return this.store.leases.some(({ owner }) => owner?.startsWith(`${name}.`) === true)
  }

  /** The rules that hold at any time. */
  check(): void {
    const { ends, failing = [], faults } = this.plan
    for (const process of this.processes) process.check(this)
    for (const id of this.plan.chats.flat()) {
      if (!this.messages.includes(id) && !this.store.isQueued(id)) throw new Violation(`${id} is lost.`)
    }
    const used = (Object.keys(faults) as ReadonlyArray<keyof Faults>).reduce(
      (sum, kind) => sum + faults[kind] - this.left[kind],
      0
    )
    if (used === 0 && this.processes.some(({ isOver, name }) => isOver && this.#isLeased(name))) {
      throw new Violation("A process has ended, and a chat is leased under its name.")
    }
    for (const { attempts, crashes, id } of this.store.leases.flatMap(({ queue }) => queue)) {
      // A failure counts twice if the answer to its commit is lost.
      const failures = (failing.includes(id) ? 1 + faults.losses : 0) + (ends === undefined ? 0 : 1)
      // A claim that is under way while a process closes can be carried out after its end.
      if (crashes > used + (ends === undefined ? 0 : 1) || attempts - crashes > failures)
        throw new Violation(`${id} has ${attempts} attempts and ${crashes} crashes.`)
    }
  }

  kill(index: number): void {
    const { name, requests } = this.processes[index]!
    const sent = requests.filter(({ isAnswered, kind }) => !isAnswered && isChange(kind))
    this.orphans = [...this.orphans, ...sent.map(({ by, input, kind }) => new Request(by, kind, input))]
    this.begin(index, `${name}'`)
  }

  end(how: "stop" | "close"): void {
    this.isEnding = false
    const process = this.own(0)
    process.isStopped = true
    process.turn(this, (kernel) => kernel.closing[how]())
  }

  /** The rules that hold when nothing happens any more. */
  checkRest(): void {
    if (this.processes.some(({ isOver }) => !isOver))
      throw new Violation("Nothing happens any more, and a process has not ended.")
    // The leases of a killed process expire.
    if (this.left.losses === this.plan.faults.losses && this.processes.some(({ name }) => this.#isLeased(name))) {
      throw new Violation("All processes have ended, and a chat is leased.")
    }
    if (this.store.queued > 0) throw new Violation("All processes have ended, and updates are queued.")
  }
}
