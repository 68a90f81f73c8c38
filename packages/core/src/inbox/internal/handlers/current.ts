import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { optionalReference } from "../../../base/internal/optionalReference.ts"
import * as PermanentError from "../../../base/PermanentError.ts"
import type { Part } from "../../Handler.ts"

/** The parts of the bot that is running. */
interface Running {
  readonly definitions: ReadonlySet<object>
  readonly timers: ReadonlySet<string>
  /** The services of groups of parts, by the layers that make the services. */
  readonly services: ReadonlyMap<object, Context.Context<never>>
}

/** The bot that handles the update. Default: none, so that no part is missing. */
const CurrentBot = optionalReference<Running>("@colloquy/core/Bot/CurrentBot")

/** Dies if the bot that handles the update does not have the part, because nothing would handle the later updates of the part. */
const requireIf = (isMissing: (bot: Running) => boolean, what: string): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const bot = fiber.getRef(CurrentBot)
    if (bot === undefined || !isMissing(bot)) return Effect.void
    return Effect.die(PermanentError.mark(new Error(`${what} is not a part of the bot. Add it to Bot.make.`)))
  })

/** Dies unless the bot has this conversation, menu or scene. */
export const requirePart = ({ kind, name }: Pick<Part, "kind" | "name">, definition: object): Effect.Effect<void> =>
  requireIf(({ definitions }) => !definitions.has(definition), `The ${kind} "${name}"`)

/** Dies unless the bot handles the timer. */
export const requireTimer = (name: string): Effect.Effect<void> =>
  requireIf(({ timers }) => !timers.has(name), `The handler of the timer "${name}"`)

/** Returns an effect with the services that a layer makes once for each bot that runs. */
export const provideOnce = <A, E, R, ROut, RIn>(
  effect: Effect.Effect<A, E, R>,
  layer: Layer.Layer<ROut, never, RIn>
): Effect.Effect<A, E, Exclude<R, ROut> | RIn> =>
  Effect.withFiber((fiber) => {
    const services = fiber.getRef(CurrentBot)?.services.get(layer)
    return services === undefined
      ? Effect.provide(effect, layer)
      : (Effect.provideContext(effect, services) as Effect.Effect<A, E, Exclude<R, ROut>>)
  })

/** Runs an effect that handles the updates of a bot with these parts. */
export const whileRunning = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  parts: ReadonlyArray<Part>,
  servicesOfSource: Context.Context<never> = Context.empty()
): Effect.Effect<A, E, R> => {
  const layers = new Map(parts.flatMap(({ layers = [] }) => layers))
  const running = (services: Running["services"]) =>
    Effect.provideService(effect, CurrentBot, {
      definitions: new Set(parts.flatMap(({ definition }) => definition ?? [])),
      timers: new Set(parts.flatMap(({ timer }) => timer ?? [])),
      services
    })
  if (layers.size === 0) return running(new Map())
  const memoMap = Layer.makeMemoMapUnsafe()
  // The layers need services that are requirements of the handlers of the bot.
  return Effect.scoped(
    Effect.flatMap(Effect.scope, (scope) =>
      Effect.forEach(layers, ([identity, layer]) =>
        Effect.map(Layer.buildWithMemoMap(layer, memoMap, scope), (services) => [identity, services] as const)
      ).pipe(
        Effect.provideContext(servicesOfSource),
        Effect.flatMap((services) => running(new Map(services)))
      )
    )
  ) as Effect.Effect<A, E, R>
}
