/**
 * Several simulated processes in one real one, in virtual time. The dice choose which task of which process is executed next,
 * where fibers yield, and all random numbers, so a seed decides everything.
 *
 * A killed process executes nothing more, not even finalizers. A frozen process goes on later.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import type { Dice } from "./dice.ts"
import { Sleeps, type Timed } from "./sleeps.ts"

/** The virtual time at which a world begins. */
export const epoch = 1_700_000_000_000

/** The number of tasks after which virtual time has to have moved. */
const maxTasksAtOnce = 100_000

/** Time does not move although tasks are executed. */
export class TimeStandsStill extends Error {
  readonly at: number

  constructor(at: number) {
    super(`Time stands still ${at - epoch} ms after the beginning: ${maxTasksAtOnce} tasks were executed meanwhile.`)
    this.at = at
  }
}

export class Process {
  readonly name: string
  isAlive = true
  isFrozen = false
  /** By how many milliseconds the wall clock of the process is ahead. */
  skew: number
  /** Until when the process cannot reach the store. */
  cutUntil = 0
  /** What has to be executed when the process goes on. */
  parked: Array<Task> = []

  constructor(name: string, skew = 0) {
    this.name = name
    this.skew = skew
  }

  get isRunning(): boolean {
    return this.isAlive && !this.isFrozen
  }
}

interface Task {
  readonly process: Process
  /** With the order `priority`, ready tasks with the highest priority are executed first. */
  readonly priority: number
  readonly run: () => void
}

interface Sleep extends Task, Timed {}

export interface Options {
  readonly dice: Dice
  /** The probability that a fiber yields before an operation. By default Effect yields after 2048, which hides most orders. */
  readonly yieldProbability: number
  /**
   * Which of the ready tasks is executed: any, the one that is ready for the longest time, or that of the fiber with the highest
   * priority, which changes now and then.
   */
  readonly order: "random" | "fifo" | "priority"
}

export class World {
  now = epoch
  /** Number of tasks that were executed. */
  tasks = 0
  /** Whether faults may happen. */
  isFaulty = true
  readonly dice: Dice
  readonly #options: Options
  #order = 0
  #ready: Array<Task> = []
  readonly #sleeps = new Sleeps<Sleep>()
  #movedAt = 0
  /** The fiber that is delayed by the order `priority`. */
  #delayed = 0

  constructor(options: Options) {
    this.#options = options
    this.dice = options.dice
  }

  /** Executes a function as a task of a process, when its turn comes. */
  schedule(process: Process, run: () => void, priority = this.#priority()): void {
    this.#ready.push({ process, priority, run })
  }

  #priority(): number {
    return this.#options.order === "priority" ? this.dice.int(16) : 0
  }

  /** The clock, the scheduler and the random numbers of a process. */
  services(process: Process): Context.Context<never> {
    const { yieldProbability } = this.#options
    const wall = () => this.now + process.skew
    const clock: Clock.Clock = {
      currentTimeMillisUnsafe: wall,
      currentTimeMillis: Effect.sync(wall),
      currentTimeNanosUnsafe: () => BigInt(wall()) * 1_000_000n,
      currentTimeNanos: Effect.sync(() => BigInt(wall()) * 1_000_000n),
      monotonicTimeNanosUnsafe: () => BigInt(this.now) * 1_000_000n,
      monotonicTimeNanos: Effect.sync(() => BigInt(this.now) * 1_000_000n),
      sleep: (duration) => this.#sleep(process, duration)
    }
    const scheduler: Scheduler.Scheduler = {
      executionMode: "async",
      shouldYield: () => yieldProbability > 0 && this.dice.chance(yieldProbability),
      makeDispatcher: () => {
        const priority = this.#priority()
        return { scheduleTask: (run) => this.schedule(process, run, priority), flush: () => {} }
      }
    }
    const random: typeof Random.Random.Service = {
      nextIntUnsafe: () => Math.floor((this.dice.next() * 2 - 1) * Number.MAX_SAFE_INTEGER),
      nextDoubleUnsafe: () => this.dice.next()
    }
    return Context.make(Scheduler.Scheduler, scheduler).pipe(
      Context.add(Clock.Clock, clock),
      Context.add(Random.Random, random)
    ) as Context.Context<never>
  }

  #sleep(process: Process, duration: Duration.Duration): Effect.Effect<void> {
    const millis = Duration.toMillis(duration)
    if (millis === Infinity) return Effect.never
    return Effect.callback<void>((resume) => {
      const at = this.now + Math.ceil(Math.max(0, millis))
      const run = () => {
        if (!sleep.isCancelled) resume(Effect.void)
      }
      const priority = this.#priority()
      const sleep: Sleep = { at, order: this.#order++, isCancelled: false, process, priority, run }
      // What takes no time comes in any order with what is ready.
      if (at === this.now) this.#ready.push(sleep)
      else this.#sleeps.add(sleep)
      return Effect.sync(() => {
        sleep.isCancelled = true
      })
    })
  }

  /** Starts an effect as a fiber of a process. */
  fork<A, E, R>(process: Process, context: Context.Context<R>, effect: Effect.Effect<A, E, R>): Fiber.Fiber<A, E> {
    return Effect.runForkWith(Context.merge(context, this.services(process)))(effect)
  }

  /**
   * Runs an effect in another process, and returns its result as a task of the process that waits for it. The effect
   * continues if nobody waits for it any more.
   */
  remotely<A, E, R>(
    caller: Process,
    callee: Process,
    context: Context.Context<R>,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E> {
    return Effect.callback<A, E>((resume) => {
      this.fork(callee, context, effect).addObserver((exit: Exit.Exit<A, E>) =>
        this.schedule(caller, () => resume(exit))
      )
    })
  }

  kill(process: Process): void {
    process.isAlive = false
    process.parked = []
  }

  freeze(process: Process): void {
    process.isFrozen = true
  }

  continue(process: Process): void {
    process.isFrozen = false
    for (const task of process.parked) this.#ready.push(task)
    process.parked = []
  }

  /** How many tasks and sleeps a process has. */
  pendingOf(process: Process): number {
    const isOf = (task: Task) => task.process === process
    return this.#ready.filter(isOf).length + this.#sleeps.all().filter(isOf).length
  }

  /**
   * Executes one task and the microtasks that it leaves behind, or moves the time to the next sleep. Returns `false` if nothing
   * happens before `until`.
   */
  async step(until: number): Promise<boolean> {
    for (let task = this.#take(); task !== undefined; task = this.#take()) {
      if (!task.process.isAlive) continue
      if (task.process.isFrozen) {
        task.process.parked.push(task)
        continue
      }
      this.tasks++
      if (this.tasks - this.#movedAt > maxTasksAtOnce) {
        this.#movedAt = this.tasks
        throw new TimeStandsStill(this.now)
      }
      task.run()
      await undefined
      return true
    }
    // A chain of promises, such as that of a stream, takes more turns than the tasks that began it.
    await new Promise((resolve) => process.nextTick(resolve))
    if (this.#ready.length > 0) return true
    const next = this.#sleeps.first()
    if (next === undefined || next.at > until) {
      if (until > this.now) this.#movedAt = this.tasks
      this.now = Math.max(this.now, until)
      return false
    }
    if (next.at > this.now) {
      this.#movedAt = this.tasks
      this.now = next.at
    }
    this.#sleeps.takeFirst()
    this.#ready.push(next)
    return true
  }

  /** Takes one of the ready tasks. */
  #take(): Task | undefined {
    const ready = this.#ready
    if (ready.length <= 1) return ready.pop()
    switch (this.#options.order) {
      case "fifo":
        return ready.shift()
      case "random":
        return this.#takeAt(this.dice.int(ready.length))
      case "priority": {
        if (this.dice.chance(0.02)) this.#delayed = this.dice.int(16)
        // Now and then any task is executed, so that a fiber that waits for another one in a loop does not stop the world.
        if (this.dice.chance(0.05)) return this.#takeAt(this.dice.int(ready.length))
        let best = 0
        for (let index = 1; index < ready.length; index++) {
          if (this.#rank(ready[index]) > this.#rank(ready[best])) best = index
        }
        return this.#takeAt(best)
      }
    }
  }

  #rank({ priority }: Task): number {
    return priority === this.#delayed ? -1 : priority
  }

  #takeAt(index: number): Task | undefined {
    const ready = this.#ready
    const task = ready[index]
    const last = ready.pop()
    if (last !== undefined && index < ready.length) ready[index] = last
    return task
  }

  /** Runs for some milliseconds of virtual time. */
  async run(millis: number): Promise<void> {
    const until = this.now + millis
    while (await this.step(until));
  }

  /** Runs until an effect has ended, for at most ten minutes of virtual time. */
  async await<A, E, R>(process: Process, context: Context.Context<R>, effect: Effect.Effect<A, E, R>): Promise<A> {
    const fiber = this.fork(process, context, effect)
    const until = this.now + 600_000
    while (fiber.pollUnsafe() === undefined && (await this.step(until)));
    const exit = fiber.pollUnsafe()
    if (exit === undefined) throw new Error("The effect did not end.")
    if (exit._tag === "Failure") throw new Error(String(exit.cause))
    return exit.value
  }

  /** Runs an effect that may wait for something real, such as a module that is loaded, before virtual time begins. */
  async open<A, E, R>(process: Process, context: Context.Context<R>, effect: Effect.Effect<A, E, R>): Promise<A> {
    const fiber = this.fork(process, context, effect)
    while (fiber.pollUnsafe() === undefined) {
      while (await this.step(this.now));
      await new Promise((resolve) => setImmediate(resolve))
    }
    return this.await(process, Context.empty(), Fiber.join(fiber))
  }
}
