import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import { monoNow } from "../consumer/lease.ts"

/** Starts a fiber. A defect of the fiber ends the bot. */
export type Run = <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>

export interface Options {
  readonly clock: Clock.Clock
  readonly run: Run
  /** Sets the time of the kernel. */
  readonly at: (wall: number, mono: number) => void
  /** Lets the kernel decide, and returns when to do so again. */
  readonly advance: (wall: number, mono: number) => number
  /** Called after a turn, in which other turns may begin. */
  readonly onEnd: () => void
  readonly onDefect: (cause: Cause.Cause<never>) => void
}

/** Lets the kernel decide after events, carries out the commands of a turn together, and has the only timer of a consumer. */
export class Turns {
  readonly #options: Options
  /** The commands of the turn. */
  #todo: Array<() => void> = []
  #isTurning = false
  /** Whether an event has come since the kernel decided. */
  #isDue = false
  /** Whether a turn follows, so that what is settled until then is one write. */
  #isSoon = false
  #timer: { readonly at: number; readonly fiber: Fiber.Fiber<void> } | undefined
  #waiting: Fiber.Fiber<void> | undefined
  #isEnded = false
  /** Whether the kernel has died. */
  isBroken = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Carries out a command after the kernel has decided. */
  do(command: () => void): void {
    this.#todo.push(command)
  }

  /** Tells the kernel what has happened. */
  event(f: () => void): void {
    const { at, clock } = this.#options
    // The time of a turn is the time of its commands.
    if (!this.#isTurning) at(clock.currentTimeMillisUnsafe(), monoNow(clock))
    f()
    this.turn()
  }

  turn(): void {
    this.#isDue = true
    if (this.#isTurning) return
    this.#isTurning = true
    // A transition that does not exist ends the bot, and nothing is decided any more.
    const turned = Result.try({ try: () => this.#turn(), catch: (defect) => defect })
    this.isBroken = Result.isFailure(turned)
    if (Result.isFailure(turned)) return this.#options.onDefect(Cause.die(turned.failure))
    this.#isTurning = false
    this.#options.onEnd()
  }

  #turn(): void {
    const { advance, clock } = this.#options
    while (this.#isDue) {
      this.#isDue = false
      const mono = monoNow(clock)
      const wakeAt = advance(clock.currentTimeMillisUnsafe(), mono)
      const todo = this.#todo
      this.#todo = []
      for (const command of todo) command()
      if (!this.#isDue) this.#wakeAt(wakeAt, mono)
    }
  }

  /** Begins a turn when the fibers that can run now have run. */
  soon(): void {
    if (this.#isSoon) return
    this.#isSoon = true
    this.#options.run(
      Effect.map(Effect.yieldNow, () => {
        this.#isSoon = false
        this.turn()
      })
    )
  }

  /** A timer that is too early only begins a turn. */
  #wakeAt(at: number, mono: number): void {
    if (at === Infinity || this.#isEnded || (this.#timer !== undefined && this.#timer.at <= at)) return
    this.#timer?.fiber.interruptUnsafe()
    // A sleep of less than a millisecond ends at once.
    const fiber = this.#options.run(Effect.sleep(Math.max(1, Math.ceil(at - mono))))
    const timer = { at, fiber }
    this.#timer = timer
    fiber.addObserver((exit) => {
      if (this.#timer !== timer || Exit.isFailure(exit)) return
      this.#timer = undefined
      this.turn()
    })
  }

  /** A wake-up that comes while nobody waits is not lost, because the latch stays open until the next claim. */
  wait(wakeUp: Latch.Latch, onWoken: () => void): void {
    if (this.#waiting !== undefined) return
    this.#waiting = this.#options.run(wakeUp.await)
    this.#waiting.addObserver((exit) => {
      this.#waiting = undefined
      if (Exit.isFailure(exit)) return
      wakeUp.closeUnsafe()
      this.event(onWoken)
    })
  }

  end(): void {
    this.#waiting?.interruptUnsafe()
    this.#isEnded = true
    this.#timer?.fiber.interruptUnsafe()
    this.#timer = undefined
  }
}
