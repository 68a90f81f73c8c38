import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Answer, type Receiver, type Request, Undelivered, WebhookSender } from "../../Webhooks.ts"

interface Listener {
  readonly url: string
  readonly receiver: Receiver<unknown>
}

/** The way out of the platform: what runs there goes on beside the calls of bots, and ends with the emulator. */
export interface Outlet {
  readonly scope: Scope.Scope
  readonly context: Context.Context<never>
  readonly allowsInsecure: boolean
  readonly listeners: Array<Listener>
  readonly send: (request: Request) => Effect.Effect<Answer, Undelivered>
}

const receive = ({ receiver }: Listener, request: Request): Effect.Effect<Answer, Undelivered> =>
  Effect.suspend(() => receiver(request)).pipe(
    Effect.mapError((cause) => new Undelivered({ failure: "Broken", cause })),
    Effect.catchDefect((cause) => Effect.fail(new Undelivered({ failure: "Broken", cause })))
  )

export const makeOutlet = Effect.fnUntraced(function* (options: { readonly allowsInsecure: boolean }) {
  const sender = yield* WebhookSender
  const listeners: Array<Listener> = []
  return {
    scope: yield* Effect.scope,
    context: yield* Effect.context<never>(),
    ...options,
    listeners,
    send: (request) =>
      Effect.suspend(() => {
        const listener = listeners.findLast(({ url }) => url === request.url)
        return listener === undefined ? sender.send(request) : receive(listener, request)
      })
  } satisfies Outlet
})

/** Runs an effect as the emulator's own, until the scope closes. It starts at once, so a test clock may be moved next. */
export const runIn = <A, E>({ context }: Outlet, scope: Scope.Scope, effect: Effect.Effect<A, E>) =>
  Effect.forkIn(Effect.provideContext(effect, context), scope, { startImmediately: true })

/** Listens at an address until the scope closes. The last one to listen there is heard. */
export const listen = (
  { listeners }: Outlet,
  url: string,
  receiver: Receiver<unknown>
): Effect.Effect<void, never, Scope.Scope> => {
  const listener: Listener = { url, receiver }
  return Effect.acquireRelease(
    Effect.sync(() => {
      listeners.push(listener)
    }),
    () =>
      Effect.sync(() => {
        listeners.splice(listeners.lastIndexOf(listener), 1)
      })
  )
}
