/**
 * Simulations of a bot: days of people, processes that are killed, and a platform, a store and services that fail, in virtual
 * time. One seed decides everything that happens, so a failure is repeated exactly.
 *
 * The bot must read time and random numbers by Effect (`Clock`, `Random`), and must not wait for anything real, such as a request
 * to a server: wrap the services that do by {@link service}.
 *
 * @since 0.1.0
 */
import type { BotApi } from "@colloquy/core/client/BotApi"
import type { RateLimiter } from "@colloquy/core/client/RateLimiter"
import type { BroadcastStore } from "@colloquy/core/broadcast/BroadcastStore"
import type * as Bot from "@colloquy/core/bot/Bot"
import type * as Handler from "@colloquy/core/inbox/Handler"
import type { Inbox } from "@colloquy/core/inbox/Inbox"
import type { Updates } from "@colloquy/core/inbox/Updates"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ChatOptions } from "../emulator/EmulatorOptions.ts"
import type { Person, PersonError } from "../emulator/Person.ts"
import * as invariants from "./internal/invariants.ts"
import { runAll } from "./internal/runAll.ts"
import type { SimulationEvent } from "./SimulationEvent.ts"

/**
 * The history of the simulation of one seed, for invariants and `atEnd`.
 *
 * @category models
 * @since 0.1.0
 */
export interface History {
  /** The seed. */
  readonly seed: number
  /** The events in order: the actions of people, the requests at the platform, the runs of handlers, the faults, and so on. */
  readonly events: ReadonlyArray<SimulationEvent>
  /** The updates that were given up, with their errors. */
  readonly deadLetters: ReadonlyArray<DeadLetter>
  /** The conversations and scenes that are open at the end. */
  readonly dialogs: ReadonlyArray<Dialog>
  /** The duration of the simulation, in milliseconds. */
  readonly duration: number
}

/**
 * An update that was given up.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeadLetter {
  /** The JSON text of the update. */
  readonly update: string
  /** The chat of the update. */
  readonly chat_id: number | undefined
  /** Why the last attempt has failed. */
  readonly error: string
  /** The number of attempts. */
  readonly attempts: number
}

/**
 * A conversation or a scene that is open at the end of a simulation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dialog {
  /** Whether a conversation or a scene is open. */
  readonly kind: "conversation" | "scene"
  /** The name of the conversation or the scene. */
  readonly name: string
  /** The chat or the user that the dialog belongs to, such as `chat:1/user:2`. */
  readonly scope: string
  /** Whether a timeout will end the dialog. */
  readonly hasTimeout: boolean
}

/**
 * The finding of an invariant.
 *
 * @category models
 * @since 0.1.0
 */
export interface Violation {
  /** A sentence about the violation, without a period at its end. */
  readonly message: string
  /** The chat that the violation concerns. The story of the failure is about this chat. Default: all chats. */
  readonly chat_id?: number | undefined
  /** The time until which the story is told, in milliseconds since the beginning. Default: the end. */
  readonly at?: number | undefined
}

/**
 * A rule that has to hold for every history. An invariant returns a description of the violation, or throws an error, such as that of an assertion.
 *
 * **Example** (An invariant of one bot)
 *
 * ```ts
 * import { Simulation } from "@colloquy/testing"
 *
 * const saysNothingInCapitals: Simulation.Invariant = ({ events }) =>
 *   events.some((event) => event.type === "asked" && /[A-Z]{10}/.test(event.text)) ? "The bot shouts." : undefined
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface Invariant {
  // oxlint-disable-next-line typescript/no-invalid-void-type
  (history: History): string | Violation | undefined | void
}

/**
 * A service of the author that fails by the rules of a seed. {@link service} makes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service<in out Id, in out Shape> {
  /** The key of the service. */
  readonly tag: Context.Key<Id, Shape>
  /** Makes the service without faults, once for each seed. */
  readonly make: Effect.Effect<Shape, never, Scope.Scope>
  /** The error of a call that fails. */
  readonly failure: ((method: string) => unknown) | undefined
}

/**
 * Any wrapped service.
 *
 * @category utility types
 * @since 0.1.0
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyService = Service<any, any>

/** The errors of the operations of a service. */
type ErrorOf<Shape> = {
  [M in keyof Shape]: Shape[M] extends (...args: never) => Effect.Effect<unknown, infer E, never>
    ? E
    : Shape[M] extends Effect.Effect<unknown, infer E, never>
      ? E
      : never
}[keyof Shape]

/**
 * Wraps a service of the author, such as a payment or a database, for the option `services` of {@link run}. Each seed makes the
 * service once, and all processes of the bot reach this service through a network: the service outlives processes that are
 * killed, and by the rules of the seed a call fails before or after the service has carried out the call, takes long, is never
 * answered, or is carried out twice.
 *
 * The service without faults is the service of a layer, or what a function returns.
 *
 * Operations are the methods of the service that return effects, and its effects. The operations of the service itself need no
 * other services. `failure` makes the error of a call that fails. Default: the call dies, and the handler is tried again.
 *
 * **Example** (A payment that charges a key once)
 *
 * ```ts
 * import { Simulation } from "@colloquy/testing"
 * import { Context, Data, Effect } from "effect"
 *
 * class Unavailable extends Data.TaggedError("Unavailable")<{}> {}
 *
 * class Payments extends Context.Service<
 *   Payments,
 *   { readonly charge: (order: string, key: string) => Effect.Effect<number, Unavailable> }
 * >()("Payments") {}
 *
 * const payments = Simulation.service(
 *   Payments,
 *   () => {
 *     const receipts = new Map<string, number>()
 *     return {
 *       charge: (_order, key) =>
 *         Effect.sync(() => {
 *           const receipt = receipts.get(key) ?? receipts.size + 1
 *           receipts.set(key, receipt)
 *           return receipt
 *         })
 *     }
 *   },
 *   { failure: () => new Unavailable() }
 * )
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export const service = <Id, Shape extends object>(
  tag: Context.Key<Id, Shape>,
  make: Layer.Layer<Id> | (() => NoInfer<Shape>),
  options: { readonly failure?: ((method: string) => NoInfer<ErrorOf<Shape>>) | undefined } = {}
): Service<Id, Shape> => ({
  tag,
  make:
    typeof make === "function"
      ? Effect.sync(make)
      : Effect.map(Layer.build(Layer.fresh(make)), (context) => Context.get(context, tag)),
  failure: options.failure
})

/**
 * A call that a service has carried out.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call<Args extends ReadonlyArray<unknown>, A> {
  /** When, in milliseconds since the beginning. */
  readonly at: number
  /** The arguments. */
  readonly args: Args
  /** The result. */
  readonly result: A
}

type CallOf<Member> = Member extends (...args: infer Args) => Effect.Effect<infer A, infer _E, infer _R>
  ? Call<Args, A>
  : Member extends Effect.Effect<infer A, infer _E, infer _R>
    ? Call<readonly [], A>
    : never

/**
 * The calls that a service has carried out with success, in order, by the names of its operations.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Calls<Shape> = {
  readonly [M in keyof Shape as [CallOf<Shape[M]>] extends [never] ? never : M]: ReadonlyArray<CallOf<Shape[M]>>
}

/**
 * Services by the names that they have in `atEnd`.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Services = Readonly<Record<string, AnyService>>

/**
 * The argument of `atEnd`: the calls of each service, and the history.
 *
 * @category utility types
 * @since 0.1.0
 */
export type End<S extends Services> = {
  readonly [K in keyof S]: S[K] extends Service<infer _Id, infer Shape> ? Calls<Shape> : never
} & { readonly history: History }

type IdsOf<S extends Services> = { [K in keyof S]: S[K] extends Service<infer Id, infer _Shape> ? Id : never }[keyof S]

/**
 * The services that a simulation provides to a bot.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Provided = BotApi | BroadcastStore | HttpClient.HttpClient | Inbox | RateLimiter | Updates

/**
 * The behavior of a person with a purpose: a generator of actions. The person waits for the bot, and gives up at the first action that
 * is not possible, for example because a button does not exist.
 *
 * **Example** (A person who orders a pizza)
 *
 * ```ts
 * import type { Simulation } from "@colloquy/testing"
 *
 * const buyer: Simulation.Visitor = function* (ann) {
 *   yield* ann.send("/order")
 *   yield* ann.press(yield* ann.reply, "Large")
 * }
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface Visitor {
  (person: Person): Generator<Effect.Effect<unknown, PersonError>, unknown, never>
}

/**
 * A seed of which something is left out: the failure of a seed is told with as little as possible.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case {
  /** The seed. */
  readonly seed: number
  /** The numbers of the people who act, from 0. Default: all. */
  readonly people?: ReadonlyArray<number> | undefined
  /** How many actions people without a purpose perform together. Default: all that they find time for. */
  readonly actions?: number | undefined
  /** Kinds of faults that do not happen, such as `kill` or `resetAfter`. Default: none. */
  readonly without?: ReadonlyArray<string> | undefined
  /** How often something happens to processes. Default: as often as the seed decides. */
  readonly disturbances?: number | undefined
}

/**
 * Options of {@link run}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<S extends Services = {}, ROut = never> {
  /** The number of seeds, from 1 on, or the seeds. Default: 100. */
  readonly seeds?: number | ReadonlyArray<number | Case> | undefined
  /** For how many days of virtual time people use the bot. Default: 7. */
  readonly days?: number | undefined
  /** The number of people without a purpose. Default: 10. */
  readonly people?: number | undefined
  /**
   * `none`: one process, and nothing fails. `mild`: up to three processes, deploys, and what happens in a bad week. `harsh`: processes are
   * killed and frozen at the worst moments, and requests, the store and services fail often. Default: `mild`.
   */
  readonly faults?: "none" | "mild" | "harsh" | undefined
  /** The rules that hold for every history. Default: {@link standard}. */
  readonly always?: ReadonlyArray<Invariant> | undefined
  /** Checks the end of each seed, for example by assertions. Default: no check. */
  readonly atEnd?: ((end: End<S>) => void) | undefined
  /** The services of the author, by the names that they have in `atEnd`. Default: none. */
  readonly services?: S | undefined
  /** Further services of the bot. Each process builds the layer when it starts. Default: none. */
  readonly layer?: Layer.Layer<ROut, never, Provided> | undefined
  /** People with a purpose. Up to three people follow each of them. Default: none. */
  readonly visitors?: ReadonlyArray<Visitor> | undefined
  /**
   * Group chats with the bot as an administrator, for example the chat of the staff, whose id is a setting of the bot. The first
   * people are the members. Default: in four of ten seeds, some people are in a group with the bot.
   */
  readonly chats?: ReadonlyArray<Pick<ChatOptions, "chat_id" | "title">> | undefined
  /** Texts that people write, such as answers that the bot accepts. Default: none, people write what most bots ask for. */
  readonly texts?: ReadonlyArray<string> | undefined
  /**
   * The options with which the bot runs. Default: those of `Bot.run`, except that updates are tried 200 times, every 5 seconds,
   * because the faults of a simulation last longer than those of a good day.
   */
  readonly run?: Pick<Bot.RunOptions, "concurrency" | "maxCrashes" | "retry" | "timeout"> | undefined
}

/**
 * A rule does not hold.
 *
 * @category errors
 * @since 0.1.0
 */
export class SimulationFailed extends Data.TaggedError("SimulationFailed")<{
  /** The seed. */
  readonly seed: number
  /** The smallest part of the seed that was found to fail in the same way. The option `seeds` repeats it. */
  readonly case: Case
  /** The name of the rule: the name of the function, or `atEnd`. */
  readonly rule: string
  /** The story of the failure. */
  readonly message: string
}> {}

/**
 * Simulates a bot: people use it for some days, while its processes are killed, frozen and restarted, and the platform, the store
 * and the services of the author fail.
 *
 * People do what the bot shows: they press its buttons, also old ones, twice, and in two chats at the same time; they write texts,
 * the commands of the bot and nonsense, send files and contacts, edit and remove messages, block the bot, and come back.
 *
 * After the last action, nothing fails any more, and the bot has ten minutes to finish. Then the rules of `always` and `atEnd` are
 * checked. Fails with {@link SimulationFailed} at the first seed for which a rule does not hold.
 *
 * The bot uses an inbox in memory that its processes share. The store, and the services of `services`, outlive processes.
 *
 * **Example** (A bad week of a bot)
 *
 * ```ts
 * import { Bot, Command, Messages } from "@colloquy/core"
 * import { Simulation } from "@colloquy/testing"
 * import { it } from "@effect/vitest"
 *
 * const bot = Bot.make(Command.make("start").on((update) => Messages.reply(update, "Hello")))
 *
 * it.effect("survives a bad week", () => Simulation.run(bot, { seeds: 20, days: 7, people: 5, faults: "harsh" }))
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, R, const S extends Services = {}, ROut = never>(
  bot: Handler.Handler<E, R>,
  options: Options<S, ROut> = {}
): Effect.Effect<void, SimulationFailed, Exclude<R, Provided | ROut | IdsOf<S>>> =>
  // The services that the bot requires are provided to its processes by the context of the program.
  Effect.mapError(
    runAll({ bot, options: options as unknown as Options<Services, unknown> }),
    (failure) => new SimulationFailed(failure)
  )

/**
 * The bot answers every press of a button, also a press that is out of date. An answer that is lost on its way counts.
 *
 * @category invariants
 * @since 0.1.0
 */
export const everyPressIsAnswered: Invariant = invariants.everyPressIsAnswered

/**
 * Each conversation that is open has a timeout, so that nobody is stuck in a conversation for ever.
 *
 * @category invariants
 * @since 0.1.0
 */
export const noDialogIsStuck: Invariant = invariants.noDialogIsStuck

/**
 * The bot sends no message again when an update is handled again.
 *
 * @category invariants
 * @since 0.1.0
 */
export const noMessageTwice: Invariant = invariants.noMessageTwice

/**
 * No update is given up, except for updates of people who have left the chat.
 *
 * @category invariants
 * @since 0.1.0
 */
export const noDeadLetters: Invariant = invariants.noDeadLetters

/**
 * The platform refuses no request because of its limits.
 *
 * @category invariants
 * @since 0.1.0
 */
export const limitsAreKept: Invariant = invariants.limitsAreKept

/**
 * No handler dies of a mistake in the code, such as a type error.
 *
 * @category invariants
 * @since 0.1.0
 */
export const noDefects: Invariant = invariants.noDefects

/**
 * Nobody waits for a word of the bot: a message, an edit, an answer to a press or an action, such as typing. Only updates in dialogs
 * count that a handler of the bot takes. The time in which people may have to wait includes the time until a process is restarted.
 * Default: 10 minutes.
 *
 * @category invariants
 * @since 0.1.0
 */
export const nobodyWaits: (options?: { readonly longerThan?: Duration.Input | undefined }) => Invariant =
  invariants.nobodyWaits

/**
 * The rules that hold for every bot: all invariants of this module.
 *
 * @category invariants
 * @since 0.1.0
 */
export const standard: ReadonlyArray<Invariant> = invariants.standard
