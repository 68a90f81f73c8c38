import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"

interface Sleeper {
  readonly until: number
  readonly awake: Deferred.Deferred<void>
}

/** How long a move of the clock waits for what is under way on real sockets, by the clock on the wall. */
const patience = 2000

const nextTurn = Effect.callback<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})

/**
 * A clock of the emulator alone: between its steps no time passes, so what happens in one step has one time. Sleepers
 * wake in the order of their time, each in its own step.
 */
export class SteppedClock implements Clock.Clock {
  readonly wall: Clock.Clock
  #now: number
  #sleepers: Array<Sleeper> = []
  #underWay = 0

  constructor(wall: Clock.Clock, start: number) {
    this.wall = wall
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

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() => {
      const sleeper = { until: this.#now + Duration.toMillis(duration), awake: Deferred.makeUnsafe<void>() }
      if (sleeper.until <= this.#now) return Effect.void
      const index = this.#sleepers.findIndex(({ until }) => until > sleeper.until)
      this.#sleepers.splice(index < 0 ? this.#sleepers.length : index, 0, sleeper)
      return Effect.onInterrupt(Deferred.await(sleeper.awake), () =>
        Effect.sync(() => {
          this.#sleepers = this.#sleepers.filter((each) => each !== sleeper)
        })
      )
    })
  }

  /** Lets nobody move the clock past what goes out on real sockets meanwhile. */
  holding<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.#underWay++
      return Effect.ensuring(
        effect,
        Effect.sync(() => {
          this.#underWay--
        })
      )
    })
  }

  // What was woken has had its say when it has come to rest: nothing is under way, and some turns have passed.
  readonly #settle: Effect.Effect<void> = Effect.suspend(() => {
    const start = this.wall.currentTimeMillisUnsafe()
    const turn = (quiet: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (this.wall.currentTimeMillisUnsafe() - start > patience) return Effect.void
        if (this.#underWay > 0) return Effect.andThen(nextTurn, turn(0))
        return quiet === 3 ? Effect.void : Effect.andThen(nextTurn, turn(quiet + 1))
      })
    return turn(0)
  })

  /** Moves the time on, through everything that was to happen until then. */
  moveTo(target: number): Effect.Effect<void> {
    const settle = this.#settle
    return Effect.gen({ self: this }, function* () {
      yield* settle
      for (let next = this.#sleepers[0]; next !== undefined && next.until <= target; next = this.#sleepers[0]) {
        this.#sleepers.shift()
        this.#now = Math.max(this.#now, next.until)
        Deferred.doneUnsafe(next.awake, Effect.void)
        yield* settle
      }
      this.#now = Math.max(this.#now, target)
    })
  }

  /** From now on every sleeper wakes by the clock on the wall. */
  protected takeSleepers(): ReadonlyArray<Sleeper> {
    const sleepers = this.#sleepers
    this.#sleepers = []
    return sleepers
  }

  protected step(time: number): void {
    this.#now = Math.max(this.#now, time)
  }
}

/** Stands still until it is moved; moves follow each other. */
export class StandingClock extends SteppedClock {
  readonly #turns = Semaphore.makeUnsafe(1)

  adjust(duration: Duration.Input): Effect.Effect<void> {
    return this.#turns.withPermits(1)(
      Effect.suspend(() =>
        this.moveTo(this.currentTimeMillisUnsafe() + Duration.toMillis(Duration.fromInputUnsafe(duration)))
      )
    )
  }
}

/** Goes as the clock on the wall does, in steps; it may be behind it, where a journal was played back. */
export class FollowingClock extends SteppedClock {
  #behind: number | undefined

  override sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.#behind === undefined ? super.sleep(duration) : Effect.andThen(this.wall.sleep(duration), this.tick)
    )
  }

  /** Takes the time from the clock on the wall. */
  readonly tick: Effect.Effect<void> = Effect.sync(() => {
    if (this.#behind !== undefined) this.step(Math.floor(this.wall.currentTimeMillisUnsafe()) - this.#behind)
  })

  readonly follow: Effect.Effect<void> = Effect.suspend(() => {
    const now = this.currentTimeMillisUnsafe()
    this.#behind = Math.floor(this.wall.currentTimeMillisUnsafe()) - now
    return Effect.forEach(
      this.takeSleepers(),
      ({ awake, until }) =>
        Effect.forkDetach(Effect.andThen(this.sleep(Duration.millis(until - now)), Deferred.done(awake, Exit.void))),
      { discard: true }
    )
  })
}
