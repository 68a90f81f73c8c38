/**
 * Scenes: state machines of a person or a chat, such as an order that is open, paid and sent.
 *
 * A scene has states with names, each with the schema of its data, its handler, and optionally a timeout. A scene
 * belongs to a chat, a user, or a user in a chat. Its state is kept by `State` and its timeouts by `Timer`: both change
 * with the acknowledgement of an update, and survive restarts and deploys.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Handler from "../inbox/Handler.ts"
import type { Inbox } from "../inbox/Inbox.ts"
import type { ValueSchema } from "../bot/internal/handlers/namedValue.ts"
import { rehearsedBy } from "../inbox/internal/rehearsal.ts"
import { makePart } from "../inbox/internal/handlers/parts.ts"
import * as machines from "./internal/scene/machine.ts"
import * as stored from "./internal/scene/stored.ts"
import * as State from "../bot/State.ts"
import type { InvalidState, Key, NoStateKey, StaleState } from "../bot/State.ts"
import type { StoreError } from "../base/StoreError.ts"
import * as Timer from "../bot/Timer.ts"
import type * as Update from "../model/Update.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"

/**
 * The stored state of a scene cannot be read: the program has no such state, or its data does not match the schema of
 * the state. The error occurs with `onStale: "fail"`. The stored state stays as it is.
 *
 * @category errors
 * @since 0.1.0
 */
export class StaleScene extends PermanentTaggedError("StaleScene", () => ({
  /** The name of the scene. */
  sceneName: Schema.String,
  /** The name of the stored state. */
  state: Schema.String,
  /** The problem of the stored state. */
  problem: Schema.String,
  /** The data as it is stored. */
  raw: Schema.Unknown
})) {
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
  readonly update: Update.Repliable
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

/**
 * The owner of a scene: a chat, a user in all chats, or a user in one chat.
 *
 * @category models
 * @since 0.1.0
 */
export type Of = "chat" | "user" | "userInChat"

/**
 * The errors of reading and changing the state of a scene.
 *
 * @category models
 * @since 0.1.0
 */
export type SceneError = NoStateKey | StaleState | StaleScene | InvalidState | Timer.InvalidTimer | StoreError

/**
 * A scene with the states `S`. A scene is a part of a bot: the handler of the updates of chats or users in this scene, by
 * the handlers of their states, and of the timeouts. Updates that no state takes go to other parts of the bot. `E` are the errors of the functions of its states, and `R` the services that they require.
 *
 * @category models
 * @since 0.1.0
 */
export interface Scene<S extends States, O extends Of, out E = never, out R = never> extends Handler.Handler<
  E | SceneError | Timer.MalformedTimer,
  R
> {
  /** The name. */
  readonly name: string
  /** The owner of the scene. */
  readonly of: O
  /**
   * Enters a state, in the handler of an update: the state before is left, and the functions `leave` and `enter` run. Use `go` of
   * the functions of a state inside of them.
   */
  readonly go: (...to: To<S>) => Effect.Effect<void, E | SceneError, R>
  /** Ends the scene, in the handler of an update: its state is left. Nothing happens if there is none. */
  readonly end: Effect.Effect<void, E | SceneError, R>
  /** Returns the state, in the handler of an update. `None`: the scene has not begun, or has ended. */
  readonly current: Effect.Effect<Option.Option<Current<S>>, NoStateKey | StaleState | StaleScene | StoreError>
  /** The scene of a chat or a user, anywhere. */
  readonly at: (key: Key<O>) => {
    /** Returns the state. `None`: the scene has not begun, or has ended. */
    readonly current: Effect.Effect<Option.Option<Current<S>>, StaleState | StaleScene | StoreError, Inbox>
    /** Ends the scene. The function `leave` of its state does not run. */
    readonly clear: Effect.Effect<void, StoreError, Inbox>
  }
  /** Emits the states of all chats or users. A state that cannot be read is a failure in its element. */
  readonly stream: Stream.Stream<SceneEntry<S, O>, StoreError, Inbox>
}

/**
 * The state of a chat or a user.
 *
 * @category models
 * @since 0.1.0
 */
export interface SceneEntry<S extends States, O extends Of> {
  /** The ids of the chat and the user to whom the scene belongs. */
  readonly key: Key<O>
  /** The state, or the reason why the state cannot be read. */
  readonly value: Result.Result<Current<S>, StaleState | StaleScene>
}

/**
 * The handling of a stored state that cannot be read, because the program has no such state, or the schema of its data
 * has changed:
 *
 * - `"end"`: the scene ends with a warning in the log, and the update goes to the next handler.
 * - `"fail"`: the handler fails with {@link StaleScene}, and the update becomes a dead letter. The stored state stays.
 * - a function: returns the state that replaces the stored state, as the arguments of `go`, or `undefined` to end the
 *   scene. The functions `enter` and `leave` of the stored state do not run. The timeout of the new state counts from
 *   the time when the stored state was entered.
 *
 * @category models
 * @since 0.1.0
 */
export type OnStale<S extends States> = "end" | "fail" | ((stale: StaleScene) => To<S> | undefined)

type StatesOf<S extends { readonly [state: string]: ValueSchema }> = { readonly [K in keyof S]: S[K]["Type"] }

type FunctionsOf<D> =
  | (D extends { readonly enter: (scene: never) => infer T } ? T : never)
  | (D extends { readonly leave: (scene: never) => infer T } ? T : never)
  | (D extends { readonly onTimeout: (scene: never) => infer T } ? T : never)
  | (D extends { readonly handler: (scene: never) => (update: never) => infer T } ? T : never)

const refuse = (name: string, problem: string): never => {
  throw new Error(`The scene "${name}" ${problem}`)
}

const checkTimeout = (name: string, state: string, timeout: Duration.Input): void => {
  const millis = Duration.toMillis(Duration.fromInputUnsafe(timeout))
  if (!(millis > 0 && Number.isFinite(millis))) refuse(name, `needs a positive, finite \`timeout\` of "${state}".`)
}

/**
 * Defines a scene with a name, the schemas of the data of its states, and the functions of its states.
 *
 * A state has up to five members: `enter` runs when the state was entered, `handler` returns the handler of updates,
 * `leave` runs when the state is left, and `onTimeout` runs when the state has lasted for `timeout`. Their functions
 * receive `data`, and `go`, `stay` and `end` to change the scene. The scene changes when the function has succeeded, so
 * a handler that fails changes nothing.
 *
 * The scene is a part of the bot: pass the scene to `Bot.make`. In an update of a bot that does not have the scene, the
 * attempt to enter a state dies. Names of scenes are unique within a bot. Throws if the name is empty, the version is no positive whole number, or a `timeout` is not positive and finite.
 *
 * **Example** (A taxi that a user has called)
 *
 * ```ts
 * import { Bot, Command, Messages, Pattern, Scene } from "@colloquy/core"
 * import { Schema } from "effect"
 *
 * const Ride = Scene.make(
 *   "ride",
 *   { of: "userInChat", states: { waiting: Schema.Struct({ address: Schema.String }), riding: Schema.Void } },
 *   {
 *     waiting: {
 *       enter: ({ data, update }) => Messages.reply(update, `A taxi is on its way to ${data.address}.`),
 *       handler: ({ go }) => Pattern.make("I am in").on(() => go("riding")),
 *       timeout: "30 minutes",
 *       onTimeout: ({ update }) => Messages.reply(update, "The taxi has left.")
 *     },
 *     riding: {
 *       handler: ({ end }) => Pattern.make("I am there").on(() => end),
 *       leave: ({ update }) => Messages.reply(update, "Thank you for riding with us.")
 *     }
 *   }
 * )
 *
 * const bot = Bot.make(
 *   Command.make("taxi", { arguments: { address: Schema.String } }).on((_, { address }) => Ride.go("waiting", { address })),
 *   Ride
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  const S extends { readonly [state: string]: ValueSchema },
  const O extends Of,
  const D extends { readonly [K in keyof S]: Definition<StatesOf<S>, S[K]["Type"]> }
>(
  name: string,
  options: {
    /** The owner of the scene. */
    readonly of: O
    /** The schemas of the data of the states, by name. `Schema.Void`: the state has no data. */
    readonly states: S
    /**
     * The version of the program, a positive whole number. Increase the version for changes that older programs cannot
     * read, such as a new state: while both programs run, updates of a scene of the newer version wait for the newer
     * program. Default: 1.
     */
    readonly version?: number | undefined
    /** The handling of a stored state that cannot be read. Default: `"end"`. */
    readonly onStale?: OnStale<StatesOf<S>> | undefined
  },
  definitions: D
): Scene<
  StatesOf<S>,
  O,
  Exclude<Effect.Error<FunctionsOf<D[keyof S]>>, Handler.NotHandled>,
  Effect.Services<FunctionsOf<D[keyof S]>>
> => {
  const { of, onStale = "end", states, version = 1 } = options
  if (name === "") refuse(name, "needs a name that is not empty.")
  if (!Number.isSafeInteger(version) || version < 1) refuse(name, "needs a `version` that is a positive whole number.")
  const byName = new Map(Object.entries(definitions as Record<string, Definition<States, unknown>>))
  for (const [state, { timeout }] of byName) if (timeout !== undefined) checkTimeout(name, state, timeout)
  const stateName = `scene:${name}`
  const machine: machines.Machine = {
    name,
    of,
    codec: stored.make(states, stateName, (stale) => new StaleScene({ sceneName: name, ...stale })),
    state: State.make(stateName, stored.Stored, {
      of: of as Of,
      initial: () => null,
      onStale: "initial",
      version,
      // Whether the state and its data fit is decided by `onStale`.
      migrate: Object.fromEntries(Array.from({ length: version - 1 }, (_, index) => [index + 1, stored.Stored]))
    }),
    timer: Timer.make(stateName, Schema.Struct({ since: Schema.Int })),
    definitions: byName,
    onStale: (stale) => {
      if (onStale === "fail") return Effect.fail(stale)
      if (onStale === "end") return Effect.as(Effect.logWarning(`${stale.message} The scene ends.`), undefined)
      return Effect.sync(() => {
        const to = onStale(stale)
        return to && { state: to[0], data: to[1] }
      })
    }
  }
  const { state, timer } = machine
  const decode = (value: typeof stored.Stored.Type) =>
    Effect.map(machines.decode(machine, value), (entered) => entered && { state: entered.state, data: entered.data })
  const due = timer.on(({ since }, update) => machines.timeOut(machine, since, update))
  const scene = {
    name,
    of,
    go: (state: string, data: unknown) => machines.request(machine, { _tag: "Go", state, data }),
    end: machines.request(machine, { _tag: "End" }),
    current: Effect.map(Effect.flatMap(state.get, decode), Option.fromUndefinedOr),
    at: (key: Key<Of>) => ({
      current: Effect.map(Effect.flatMap(state.at(key).get, decode), Option.fromUndefinedOr),
      clear: Effect.andThen(state.at(key).clear, machines.timersOf(machine, key).cancel)
    }),
    stream: State.stream(state).pipe(
      Stream.mapEffect(({ key, value }) =>
        Effect.map(Effect.result(Effect.flatMap(Effect.fromResult(value), decode)), (value) => ({ key, value }))
      ),
      Stream.filter(({ value }) => Result.isFailure(value) || value.success !== undefined)
    )
  }
  const handle = (update: Update.Update): Handler.Return => {
    const timedOut = due(update)
    return timedOut === undefined || update.update_type !== "colloquy_timer"
      ? machines.handle(machine, update)
      : rehearsedBy(timedOut, machines.rehearse(machine, update))
  }
  return makePart({ kind: "scene", name, definition: machine, timer: timer.name, handle }, scene) as never
}
