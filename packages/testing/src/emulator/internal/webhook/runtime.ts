import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { DeliveryError, type Receiver, type Request, type Response, WebhookSender } from "../../WebhookSender.ts"

interface Registration {
  readonly url: string
  readonly receiver: Receiver<unknown>
}

/** How secrets are accepted and sent. */
export interface SecretSettings {
  readonly header: string
  /** Characters of a secret besides letters and digits. */
  readonly characters: string
}

/** The scope and the services of the emulator, for webhook deliveries. */
export interface WebhookRuntime {
  readonly scope: Scope.Scope
  readonly context: Context.Context<never>
  readonly allowsInsecure: boolean
  secrets: SecretSettings
  /** The settings of secrets after a reset. */
  readonly initialSecrets: SecretSettings
  /** The latest receiver of a URL replaces the others. */
  readonly receivers: Array<Registration>
  readonly send: (request: Request) => Effect.Effect<Response, DeliveryError>
}

const callReceiver = ({ receiver }: Registration, request: Request): Effect.Effect<Response, DeliveryError> =>
  Effect.suspend(() => receiver(request)).pipe(
    Effect.mapError((cause) => new DeliveryError({ reason: "ConnectionLost", cause })),
    Effect.catchDefect((cause) => Effect.fail(new DeliveryError({ reason: "ConnectionLost", cause })))
  )

export const makeRuntime = Effect.fnUntraced(function* (options: {
  readonly allowsInsecure: boolean
  readonly secrets: SecretSettings
}) {
  const sender = yield* WebhookSender
  const receivers: Array<Registration> = []
  return {
    scope: yield* Effect.scope,
    context: yield* Effect.context<never>(),
    ...options,
    initialSecrets: options.secrets,
    receivers,
    send: (request) =>
      Effect.suspend(() => {
        const registration = receivers.findLast(({ url }) => url === request.url)
        return registration === undefined ? sender.send(request) : callReceiver(registration, request)
      })
  } as WebhookRuntime
})

/** Runs an effect in a scope of the emulator. The effect starts immediately, so that a test can move its clock next. */
export const runIn = <A, E>({ context }: WebhookRuntime, scope: Scope.Scope, effect: Effect.Effect<A, E>) =>
  Effect.forkIn(Effect.provideContext(effect, context), scope, { startImmediately: true })
