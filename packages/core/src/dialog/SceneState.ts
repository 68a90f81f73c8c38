/**
 * The parts of a state of a `Scene`: its functions, their arguments, and the errors.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Handler from "../inbox/Handler.ts"
import type * as Update from "../model/Update.ts"
import * as Schema from "effect/Schema"
import * as PermanentError from "../base/PermanentError.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * The stored state of a scene cannot be read: the program has no such state, or its data does not match the schema of the
 * state. It occurs with `onStale: "fail"`. The stored state stays as it is.
 *
 * @category errors
 * @since 0.1.0
 */
export class StaleScene extends TaggedError("StaleScene", () => ({
  /** The name of the scene. */
  sceneName: Schema.String,
  /** The name of the stored state. */
  state: Schema.String,
  /** What is wrong. */
  problem: Schema.String,
  /** The data as it is stored. */
  raw: Schema.Unknown
})) {
  get [PermanentError.TypeId](): true {
    return true
  }

  override get message() {
    return (
      `The scene "${this.sceneName}" is in the state "${this.state}", which cannot be read: ${this.problem.replace(/\.$/, "")}. ` +
      "Correct the program, or say by `onStale` what takes its place."
    )
  }
}

/**
 * The data of the states of a scene, by name.
 *
 * @category models
 * @since 0.1.0
 */
export type States = { readonly [state: string]: unknown }

/**
 * A state with its data, as arguments. A state without data needs only its name.
 *
 * @category utility types
 * @since 0.1.0
 */
export type To<S extends States> = {
  readonly [K in keyof S & string]: void extends S[K] ? [state: K, data?: S[K]] : [state: K, data: S[K]]
}[keyof S & string]

/**
 * A state with its data.
 *
 * @category models
 * @since 0.1.0
 */
export type Current<S extends States> = {
  readonly [K in keyof S & string]: { readonly state: K; readonly data: S[K] }
}[keyof S & string]

/**
 * The argument of the function `leave` of a state.
 *
 * @category models
 * @since 0.1.0
 */
export interface Leaving<out Data> {
  /** The data of the state. */
  readonly data: Data
  /** The update that is being handled. */
  readonly update: Update.KnownUpdate | Update.TimerUpdate
}

/**
 * The argument of a function of a state. The scene changes when the function has succeeded. If the function makes
 * several changes, the last change counts.
 *
 * @category models
 * @since 0.1.0
 */
export interface Control<S extends States, Data> extends Leaving<Data> {
  /** Enters a state, which can be the same one. */
  readonly go: (...to: To<S>) => Effect.Effect<void>
  /** Replaces the data of the state. The state is not left, and its timeout does not start again. */
  readonly stay: (data: Data) => Effect.Effect<void>
  /** Ends the scene. */
  readonly end: Effect.Effect<void>
}

/**
 * The functions of a state. All of them may be left out.
 *
 * @category models
 * @since 0.1.0
 */
export interface Definition<S extends States, Data> {
  /** Runs when the state was entered. */
  readonly enter?: ((scene: Control<S, Data>) => Effect.Effect<unknown, unknown, unknown>) | undefined
  /**
   * Returns the handler of updates while the scene is in this state. Updates that this handler declines go to the next
   * handler of the bot.
   */
  readonly handler?: ((scene: Omit<Control<S, Data>, "update">) => Handler.Handler<unknown, unknown>) | undefined
  /** Runs when the state is left, also by the end of the scene. */
  readonly leave?: ((scene: Leaving<Data>) => Effect.Effect<unknown, unknown, unknown>) | undefined
  /** The longest time between entering and leaving the state. Default: no limit. */
  readonly timeout?: Duration.Input | undefined
  /**
   * Runs when the state has lasted for `timeout`. If the function makes no change, the scene ends. Default: the scene
   * ends.
   */
  readonly onTimeout?: ((scene: Control<S, Data>) => Effect.Effect<unknown, unknown, unknown>) | undefined
}
