import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { DeliveryError, type Receiver, type Request, type Response, WebhookSender } from "../../WebhookSender.ts"

interface Registration {
  readonly url: string
  readonly receiver: Receiver<unknown>
}

/** How secrets are accepted and sent. */
export interface SecretSettings {
  readonly secret_header: string
  /** Characters of a secret besides letters and digits. */
  readonly secret_characters: string
}

const callReceiver = ({ receiver }: Registration, request: Request): Effect.Effect<Response, DeliveryError> =>
  Effect.suspend(() => receiver(request)).pipe(
    Effect.mapError((cause) => new DeliveryError({ reason: "ConnectionLost", cause })),
    Effect.catchDefect((cause) => Effect.fail(new DeliveryError({ reason: "ConnectionLost", cause })))
  )

/** The scope and the services of the emulator, for webhook deliveries. */
export const makeRuntime = Effect.fnUntraced(function* (allowsInsecure: boolean, secrets: SecretSettings) {
  const sender = yield* WebhookSender
  const receivers: Array<Registration> = []
  return {
    scope: yield* Effect.scope,
    context: yield* Effect.context<never>(),
    allowsInsecure,
    secrets,
    /** The settings of secrets after a reset. */
    initialSecrets: secrets,
    /** The latest receiver of a URL replaces the others. */
    receivers,
    send: (request: Request) =>
      Effect.suspend(() => {
        const registration = receivers.findLast(({ url }) => url === request.url)
        return registration === undefined ? sender.send(request) : callReceiver(registration, request)
      })
  }
})

export type WebhookRuntime = Effect.Success<ReturnType<typeof makeRuntime>>

/** Runs an effect in a scope of the emulator. The effect starts immediately, so that a test can move its clock next. */
export const runIn = <A, E>({ context }: WebhookRuntime, scope: Scope.Scope, effect: Effect.Effect<A, E>) =>
  Effect.forkIn(Effect.provideContext(effect, context), scope, { startImmediately: true })
