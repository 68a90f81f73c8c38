import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import { bracket } from "../../../base/internal/bracket.ts"
import { defect } from "../../../base/internal/defect.ts"
import { optionalReference } from "../../../base/internal/optionalReference.ts"
import type { Pause } from "./event.ts"

/**
 * An operation that completes before its run ends, and so cannot end the run: a step, or the option `otherwise` of a
 * question.
 */
interface CriticalSection {
  readonly body: Body
  readonly name: string
}

const CurrentSection = optionalReference<CriticalSection>("@colloquy/core/Conversation/CurrentSection")

const yields = Effect.repeat(Effect.yieldNow, { times: 10 })

/**
 * The fiber of the body in a run of a conversation: operations that end the fiber, and operations that complete before.
 */
export class Body {
  readonly #conversation: string
  readonly #settled = Deferred.makeUnsafe<Exit.Exit<unknown, unknown> | undefined>()
  readonly #ending = Semaphore.makeUnsafe(1)
  #busy = 0
  #isOver = false
  #root: Fiber.Fiber<unknown, unknown> | undefined
  pause: Pause | undefined

  constructor(conversation: string) {
    this.#conversation = conversation
  }

  /** Runs the body. Returns `undefined` if the body was paused. */
  execute<A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<Exit.Exit<A, E> | undefined, never, R> {
    const settled = this.#settled
    const rooted = Effect.withFiber((fiber) => {
      this.#root = fiber
      return body
    })
    return Effect.flatMap(Effect.forkChild(rooted, { startImmediately: true }), (fiber) => {
      // A fiber that meets a value that is no effect ends without its finalizers.
      fiber.addObserver((exit) => void Deferred.doneUnsafe(settled, Effect.succeed(exit)))
      return Effect.flatMap(Deferred.await(settled), (exit) => {
        if (exit !== undefined) return Effect.succeed(exit as Exit.Exit<A, E>)
        this.#isOver = true
        return Effect.as(Fiber.interrupt(fiber), undefined)
      })
    })
  }

  /** Whether a fiber is the fiber of the body, and not of a concurrent branch. */
  isRoot(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    return fiber === this.#root
  }

  /** Runs an effect that is finished before the run is paused. */
  finishing<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return bracket(
      () => ++this.#busy,
      () => effect,
      (_, exit) => {
        this.#busy--
        if (this.pause === undefined || this.#busy > 0) return undefined
        if (Exit.isSuccess(exit)) return Effect.sync(this.#settle)
        // If nothing recovers from the failure, the body fails first.
        return Effect.asVoid(Effect.forkDetach(Effect.andThen(yields, Effect.sync(this.#settle))))
      }
    )
  }

  /** Runs an effect that completes before the run ends, and that cannot end the run. */
  critical<A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return this.finishing(Effect.provideService(effect, CurrentSection, { body: this, name }))
  }

  /**
   * Runs an operation that may end the run. Concurrent branches run such operations one after the other, because only
   * one operation can end the run. In a critical section, such an operation is a defect: the section and the operation
   * would wait for each other.
   */
  ending<A, E, R>(what: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.flatMap(CurrentSection, (section) =>
      section?.body !== this
        ? this.#ending.withPermit(Effect.suspend(() => (this.pause === undefined ? effect : this.#paused)))
        : defect(
            `The conversation "${this.#conversation}" cannot ${what} in ${section.name}, which has to complete in one run. Do ` +
              "this outside of it."
          )
    )
  }

  /**
   * An operation that begins after the run was paused has to wait for the next run, unless the operation is part of a
   * critical section.
   */
  unlessPaused<A, E, R>(begin: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    if (this.pause === undefined) return begin()
    return Effect.flatMap(CurrentSection, (section) => (section?.body === this ? begin() : this.#paused))
  }

  /**
   * Ends the run of the body. The body is interrupted, so no operator on failures or causes recovers from the pause.
   */
  pauseBy(pause: Pause): Effect.Effect<never> {
    return Effect.suspend(() => {
      this.pause ??= pause
      return this.#paused
    })
  }

  get #paused(): Effect.Effect<never> {
    return Effect.suspend(() => {
      if (this.#isOver) return Effect.interrupt
      if (this.#busy === 0) this.#settle()
      return Effect.interruptible(Effect.never)
    })
  }

  readonly #settle = (): void => void Deferred.doneUnsafe(this.#settled, Effect.succeed(undefined))
}
