import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { downcast } from "../../../base/internal/downcast.ts"
import * as rules from "../../../base/internal/rules.ts"
import type { Update } from "../../../model/Update.ts"
import * as Deliveries from "../../Deliveries.ts"
import type { Delivery } from "../../Deliveries.ts"
import type { Handler, Part } from "../../Handler.ts"
import type { AnySource, DeliveriesOptions, Source, Updates } from "../../Updates.ts"
import { whileRunning } from "../handlers/current.ts"
import * as consumer from "../kernel/consumer.ts"

type Bot<E, R> = Handler<E, R> & { readonly parts: ReadonlyArray<Part> }

const defaults = {
  concurrency: 64,
  maxInMemory: 1000,
  maxInMemoryOfBatches: 4000,
  maxCrashes: 3,
  timeout: "1 minute"
} as const

const checkCrashes = (name: string, maxCrashes: number): Effect.Effect<void> =>
  Number.isInteger(maxCrashes) && maxCrashes >= 2
    ? Effect.void
    : Effect.die(
        new RangeError(`${name}: the option \`maxCrashes\` must be an integer of at least 2, but is ${maxCrashes}`)
      )

/** The source of a call. `services` is `undefined` if the effects that handle an update have the services of the caller. */
export interface Given extends Pick<Source<unknown>, "drain" | "inbox" | "source"> {
  readonly services: Context.Context<never> | undefined
  /** Called at the end if updates are left that need a newer program. */
  readonly onWaiting?: () => void
}

/** Returns the source of the option, or the source of the program, which is that of the service. */
export const given = (source: AnySource | undefined, service: typeof Updates): Effect.Effect<Given, never, Updates> =>
  source === undefined
    ? service.use((program) => Effect.succeed({ ...program, services: undefined }))
    : Effect.succeed({ ...source, services: downcast(source.services) })

/** The stream of the deliveries of a source. */
export const deliveriesOf = <R>(
  name: string,
  { inbox, onWaiting, services, source }: Given,
  options: DeliveriesOptions<R, AnySource>,
  onDeadLetterTimeout: Duration.Input = defaults.timeout
): Stream.Stream<Delivery, unknown, R> => {
  const { maxCrashes = defaults.maxCrashes, onDeadLetter, perChat = 1 } = options
  const { maxInMemory = perChat === 1 ? defaults.maxInMemory : defaults.maxInMemoryOfBatches } = options
  const { maxUnsettled = maxInMemory, unsettledAfter = defaults.timeout } = options
  const ofChat = perChat === "unbounded" ? Infinity : perChat
  const check = Effect.gen(function* () {
    yield* rules.checkPositiveInteger(name, "perChat", ofChat === Infinity ? 1 : ofChat)
    yield* rules.checkPositiveInteger(name, "maxInMemory", maxInMemory)
    yield* rules.checkPositiveInteger(name, "maxUnsettled", maxUnsettled)
    yield* checkCrashes(name, maxCrashes)
  })
  const emitted = consumer.open(inbox, source, {
    perChat: ofChat,
    maxInMemory,
    maxUnsettled,
    maxCrashes,
    unsettledAfter: Duration.fromInputUnsafe(unsettledAfter),
    onDeadLetter,
    onDeadLetterTimeout: Duration.fromInputUnsafe(onDeadLetterTimeout),
    services,
    onWaiting
  })
  return Stream.unwrap(Effect.andThen(check, emitted))
}

/** Handles the updates of a source by the parts of a bot. */
export const runOf = <E, R, R2>(
  name: string,
  source: Given,
  bot: Bot<E, R>,
  options: Deliveries.RunForEachOptions & DeliveriesOptions<R2, AnySource>
): Effect.Effect<void, unknown, R | R2> => {
  const { concurrency = defaults.concurrency, maxCrashes, maxInMemory, onDeadLetter } = options
  const timeout = options.timeout ?? defaults.timeout
  // Handlers settle their deliveries, and time out.
  const emitted = { maxCrashes, maxInMemory, onDeadLetter, maxUnsettled: concurrency, unsettledAfter: Infinity }
  const handled = deliveriesOf(name, source, emitted, timeout).pipe(
    Deliveries.runForEach((update: Update) => bot(update), { ...options, concurrency })
  )
  return Effect.andThen(
    rules.checkPositiveInteger(name, "concurrency", concurrency),
    whileRunning(handled, bot.parts, source.services)
  )
}
