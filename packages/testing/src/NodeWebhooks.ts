/**
 * Webhook deliveries over real connections, with the certificate checked as the platform checks it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Destination, makeSend } from "./internal/webhook/nodeSender.ts"
import { WebhookSender } from "./Webhooks.ts"

/**
 * `webhookRoots` are certificates in PEM of authorities that are trusted besides Node's own. `connectTo` says where
 * connections to addresses with `https://` really go, whatever host they name; the certificate is still judged by the
 * host of the address.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly webhookRoots?: string | ReadonlyArray<string> | undefined
  readonly connectTo?: Destination | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export type { Destination } from "./internal/webhook/nodeSender.ts"

/**
 * Posts what no receiver in process takes. A certificate has to come from a trusted authority, name the host of the
 * address and be served with its whole chain, or nothing is sent.
 *
 * **Example**
 *
 * ```ts
 * import { Emulator, EmulatorServer, NodeWebhooks } from "@colloquy/testing"
 * import { Layer } from "effect"
 *
 * const platform = EmulatorServer.layer({ port: 8080 }).pipe(
 *   Layer.provideMerge(Emulator.layer({ insecureWebhooks: true })),
 *   Layer.provide(NodeWebhooks.layer({ connectTo: { host: "127.0.0.1", port: 8443 } }))
 * )
 * ```
 *
 * API: Events, Webhook delivery rules.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<never> =>
  Layer.effect(
    WebhookSender,
    Effect.sync(() => ({ send: makeSend([options.webhookRoots ?? []].flat(), options.connectTo ?? {}) }))
  )
