/**
 * Several simulated processes in one real one, in virtual time. The dice choose which task of which process is executed next,
 * where fibers yield, and all random numbers, so a seed decides everything.
 *
 * A killed process executes nothing more, not even finalizers. A frozen process goes on later.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Dice } from "./dice.ts"
import type { Process, Task } from "./process.ts"
import { type Order, Ready } from "./ready.ts"
import { servicesOf } from "./services.ts"
import { Sleeps, type Timed } from "./sleeps.ts"

/** The virtual time at which a world begins. */
export const epoch = 1_700_000_000_000

/** The number of tasks after which virtual time has to have moved. */
const maxTasksAtOnce = 100_000

/** Time does not move although tasks are executed. */
export class TimeStandsStill extends Error {
  constructor(at: number) {
    super(`Time stands still ${at - epoch} ms after the beginning: ${maxTasksAtOnce} tasks were executed meanwhile.`)
  }
}

interface Sleep extends Task, Timed {
  /** How long the sleep takes, in milliseconds. */
  readonly millis: number
}

export interface Options {
  readonly dice: Dice
  /** The probability that a fiber yields before an operation. By default Effect yields after 2048, which hides most orders. */
  readonly yieldProbability: number
  readonly order: Order
}

export class World {
  now = epoch
  /** Number of tasks that were executed. */
  tasks = 0
  /** Whether faults may happen. */
  isFaulty = true
  /**
   * Is asked when nothing is ready. Returns the time to which time jumps, although sleeps are due before: these sleeps then end
   * late. Default: time moves from sleep to sleep.
   */
  onIdle: (() => number) | undefined
  readonly dice: Dice
  readonly #yieldProbability: number
  readonly #ready: Ready
  readonly #sleeps = new Sleeps<Sleep>()
  #movedAt = 0

  constructor({ dice, order, yieldProbability }: Options) {
    this.dice = dice
    this.#yieldProbability = yieldProbability
    this.#ready = new Ready(dice, order)
  }

  /** Executes a function as a task of a process, when its turn comes. */
  schedule(process: Process, run: () => void, priority = this.nextPriority()): void {
    this.#ready.add({ process, priority, run })
  }

  /** The clock, the scheduler and the random numbers of a process. */
  services(process: Process): Context.Context<never> {
    return servicesOf(this, process)
  }

  shouldYield(): boolean {
    return this.#yieldProbability > 0 && this.dice.chance(this.#yieldProbability)
  }

  /** The priority of the next fiber. */
  nextPriority(): number {
    return this.#ready.nextPriority()
  }

  sleep(process: Process, duration: Duration.Duration): Effect.Effect<void> {
    const millis = Duration.toMillis(duration)
    if (millis === Infinity) return Effect.never
    return Effect.callback<void>((resume) => {
      const rounded = Math.ceil(Math.max(0, millis))
      const at = this.now + rounded
      const run = () => {
        if (!sleep.isCancelled) resume(Effect.void)
      }
      const priority = this.nextPriority()
      const sleep: Sleep = { at, isCancelled: false, process, priority, run, millis: rounded }
      // Tasks without a delay run in any order with the tasks that are ready.
      if (at === this.now) this.#ready.add(sleep)
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
    for (const task of process.parked) this.#ready.add(task)
    process.parked = []
  }

  /** Returns when the first of the sleeps ends that match. */
  dueAt(matches: (process: Process, millis: number) => boolean): number {
    return this.#sleeps.all().findLast(({ millis, process }) => matches(process, millis))?.at ?? Infinity
  }

  /** How many tasks and sleeps a process has. */
  pendingOf(process: Process): number {
    const isOf = (task: Task) => task.process === process
    return this.#ready.count(isOf) + this.#sleeps.all().filter(isOf).length
  }

  /**
   * Executes one task and the microtasks that it leaves behind, or moves the time to the next sleep. Returns `false` if nothing
   * happens before `until`.
   */
  async step(until: number): Promise<boolean> {
    for (let task = this.#ready.take(); task !== undefined; task = this.#ready.take()) {
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
    if (this.#ready.size > 0) return true
    this.#moveTo(Math.min(until, this.onIdle?.() ?? 0))
    const next = this.#sleeps.first()
    if (next === undefined || next.at > until) {
      this.#moveTo(until)
      return false
    }
    this.#moveTo(next.at)
    this.#sleeps.removeFirst()
    this.#ready.add(next)
    return true
  }

  /** Moves the time forward. A time in the past changes nothing. */
  #moveTo(time: number): void {
    if (time <= this.now) return
    this.now = time
    this.#movedAt = this.tasks
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
