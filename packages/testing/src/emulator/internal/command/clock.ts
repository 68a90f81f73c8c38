import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"

interface Sleeper {
  readonly until: number
  readonly wakeUp: Deferred.Deferred<void>
}

/** Maximum time that a move of the clock waits for pending requests on sockets, in milliseconds of real time. */
const idleTimeout = 2000

/** The longest delay of a timer of Node, in milliseconds. */
const maxTimerDelay = 2 ** 31 - 1

const nextTick = Effect.callback<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

/**
 * The clock of the emulator, which moves in steps: all events in one step have the same time. Sleepers wake in the
 * order of their time, each in a separate step.
 */
export class SteppedClock implements Clock.Clock {
  readonly system: Clock.Clock
  #now: number
  #sleepers: Array<Sleeper> = []
  #pending = 0

  constructor(system: Clock.Clock, start: number) {
    this.system = system
    this.#now = start
  }

  currentTimeMillisUnsafe(): number {
    return this.#now
  }

  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.round(this.#now * 1_000_000))
  }

  monotonicTimeNanosUnsafe(): bigint {
    return this.currentTimeNanosUnsafe()
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  /** Moves to the time of the system clock, if each step follows it. */
  readonly tick: Effect.Effect<void> = Effect.void

  /** Follows the system clock in steps from now on, if the clock is made for it. */
  readonly follow: Effect.Effect<void> = Effect.void

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() => {
      const now = this.currentTimeMillisUnsafe()
      const sleeper = { until: now + Duration.toMillis(duration), wakeUp: Deferred.makeUnsafe<void>() }
      if (sleeper.until <= now) return Effect.void
      const index = this.#sleepers.findIndex(({ until }) => until > sleeper.until)
      this.#sleepers.splice(index < 0 ? this.#sleepers.length : index, 0, sleeper)
      return Effect.onInterrupt(Deferred.await(sleeper.wakeUp), () =>
        Effect.sync(() => {
          this.#sleepers = this.#sleepers.filter((each) => each !== sleeper)
        })
      )
    })
  }

  /** Prevents the clock from moving on while the effect runs. */
  track<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.sync(() => this.#pending++),
      () => effect,
      () => Effect.sync(() => this.#pending--)
    )
  }

  // Waits until no effect is pending and the event loop has been idle for a few ticks.
  readonly #idle: Effect.Effect<void> = Effect.suspend(() => {
    const start = this.system.currentTimeMillisUnsafe()
    const wait = (quiet: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (this.system.currentTimeMillisUnsafe() - start > idleTimeout) return Effect.void
        if (this.#pending > 0) return Effect.andThen(nextTick, wait(0))
        return quiet === 3 ? Effect.void : Effect.andThen(nextTick, wait(quiet + 1))
      })
    return wait(0)
  })

  /** Moves the time to the target. Sleepers that are due before wake in order. */
  moveTo(target: number): Effect.Effect<void> {
    const idle = this.#idle
    return Effect.gen({ self: this }, function* () {
      yield* idle
      for (let next = this.#sleepers[0]; next !== undefined && next.until <= target; next = this.#sleepers[0]) {
        this.#sleepers.shift()
        this.#now = Math.max(this.#now, next.until)
        Deferred.doneUnsafe(next.wakeUp, Effect.void)
        yield* idle
      }
      this.#now = Math.max(this.#now, target)
    })
  }

  /** Wakes due sleepers, and returns the due time of the next sleeper. */
  protected wakeUntil(now: number): number | undefined {
    let next = this.#sleepers[0]
    for (; next !== undefined && next.until <= now; next = this.#sleepers[0]) {
      this.#sleepers.shift()
      Deferred.doneUnsafe(next.wakeUp, Effect.void)
    }
    return next?.until
  }

  /** Returns and removes all sleepers. */
  protected takeSleepers(): ReadonlyArray<Sleeper> {
    const sleepers = this.#sleepers
    this.#sleepers = []
    return sleepers
  }

  protected step(time: number): void {
    this.#now = Math.max(this.#now, time)
  }
}

/** A clock that follows the system clock in steps, with a delay after a replay. */
export class RealTimeClock extends SteppedClock {
  #offset: number | undefined

  override sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.#offset === undefined ? super.sleep(duration) : Effect.andThen(this.system.sleep(duration), this.tick)
    )
  }

  override readonly tick: Effect.Effect<void> = Effect.sync(() => {
    if (this.#offset !== undefined) this.step(Math.floor(this.system.currentTimeMillisUnsafe()) - this.#offset)
  })

  override readonly follow: Effect.Effect<void> = Effect.suspend(() => {
    const now = this.currentTimeMillisUnsafe()
    this.#offset = Math.floor(this.system.currentTimeMillisUnsafe()) - now
    return Effect.forEach(
      this.takeSleepers(),
      ({ until, wakeUp }) =>
        Effect.forkDetach(Effect.andThen(this.sleep(Duration.millis(until - now)), Deferred.done(wakeUp, Exit.void))),
      { discard: true }
    )
  })
}

/** A clock that follows the system clock until it is stopped, and that can be adjusted. Concurrent adjustments run one after the other. */
export class StoppableClock extends SteppedClock {
  readonly #lock = Semaphore.makeUnsafe(1)
  #offset: number | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(system: Clock.Clock, start: number, isRunning = true) {
    super(system, start)
    if (isRunning) this.#offset = this.#systemTime() - start
  }

  #systemTime(): number {
    return Math.floor(this.system.currentTimeMillisUnsafe())
  }

  get isRunning(): boolean {
    return this.#offset !== undefined
  }

  override currentTimeMillisUnsafe(): number {
    if (this.#offset !== undefined) this.step(this.#systemTime() - this.#offset)
    return super.currentTimeMillisUnsafe()
  }

  override sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.isRunning) this.#wakeAt(this.currentTimeMillisUnsafe() + Duration.toMillis(duration))
      return super.sleep(duration)
    })
  }

  /** Follows the system clock from the current time on, or stops. */
  setRunning(isRunning: boolean): Effect.Effect<void> {
    return Effect.sync(() => {
      const now = this.currentTimeMillisUnsafe()
      clearTimeout(this.#timer)
      this.#timer = undefined
      this.#offset = isRunning ? this.#systemTime() - now : undefined
      if (isRunning) this.#wakeDue()
    })
  }

  /** Moves the time. During the move, the clock does not follow the system clock. */
  adjust(duration: Duration.Input): Effect.Effect<void> {
    const millis = Duration.toMillis(Duration.fromInputUnsafe(duration))
    const move = this.#lock.withPermits(1)(Effect.suspend(() => this.moveTo(this.currentTimeMillisUnsafe() + millis)))
    return Effect.suspend(() => {
      if (!this.isRunning) return move
      return this.setRunning(false).pipe(Effect.andThen(move), Effect.ensuring(this.setRunning(true)))
    })
  }

  #nextWake: number = Infinity

  #wakeAt(until: number): void {
    if (this.#timer !== undefined && this.#nextWake <= until) return
    clearTimeout(this.#timer)
    this.#nextWake = until
    const delay = Math.min(Math.max(0, until - this.currentTimeMillisUnsafe()), maxTimerDelay)
    this.#timer = setTimeout(() => this.#wakeDue(), delay)
  }

  #wakeDue(): void {
    this.#timer = undefined
    const now = this.currentTimeMillisUnsafe()
    const next = this.wakeUntil(now)
    if (next !== undefined && this.isRunning) this.#wakeAt(next)
  }
}
