import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { monoNow } from "../consumer/lease.ts"
import type { Consumer } from "./consumer.ts"

/** Lets the kernel decide after events, carries out the commands of a turn together, and has the only timer of a consumer. */
export class Turns {
  readonly #consumer: Consumer
  /** The commands of the turn. */
  #todo: Array<() => void> = []
  #isTurning = false
  /** Whether an event has come since the kernel decided. */
  #isDue = false
  /** Whether a turn follows, so that all updates that are settled until then are one write. */
  #isSoon = false
  #timer: { readonly at: number; readonly fiber: Fiber.Fiber<void> } | undefined
  #isEnded = false
  /** Whether the kernel has died. */
  isBroken = false

  constructor(consumer: Consumer) {
    this.#consumer = consumer
  }

  /** Carries out a command after the kernel has decided. */
  do(command: () => void): void {
    this.#todo.push(command)
  }

  /** Tells the kernel the time. */
  tick(): void {
    const { clock, kernel } = this.#consumer
    kernel.at(clock.currentTimeMillisUnsafe(), monoNow(clock))
  }

  /** Passes an event to the kernel. */
  event(f: () => void): void {
    // The time of a turn is the time of its commands.
    if (!this.#isTurning) this.tick()
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
    if (Result.isFailure(turned)) return this.#consumer.fail(Cause.die(turned.failure))
    this.#isTurning = false
    this.#consumer.onTurn()
  }

  #turn(): void {
    const { kernel } = this.#consumer
    while (this.#isDue) {
      this.#isDue = false
      this.tick()
      const { mono } = kernel.state
      kernel.advance()
      const todo = this.#todo
      this.#todo = []
      for (const command of todo) command()
      if (!this.#isDue) this.#wakeAt(kernel.wakeAt, mono)
    }
  }

  /** Begins a turn when the fibers that can run now have run. */
  soon(): void {
    if (this.#isSoon) return
    this.#isSoon = true
    this.#consumer.run(
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
    const elapsed = Effect.map(Effect.sleep(Math.max(1, Math.ceil(at - mono))), () => {
      this.#timer = undefined
      this.turn()
    })
    this.#timer = { at, fiber: this.#consumer.run(elapsed) }
  }

  end(): void {
    this.#isEnded = true
    this.#timer?.fiber.interruptUnsafe()
  }
}
