/**
 * Sends the webhook deliveries of the emulator over real connections, and checks certificates as the platform does.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Settings from "@colloquy/core/client/Settings"
import { makeSend } from "./internal/webhook/nodeSender.ts"
import { WebhookSender } from "./WebhookSender.ts"

/**
 * A host and a port to connect to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Destination {
  /** The host name or the address. Default: the host of the URL. */
  readonly host?: string | undefined
  /** The port. Default: the port of the URL. */
  readonly port?: number | undefined
}

/**
 * Options of the webhook sender.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** PEM certificates of authorities to trust in addition to the authorities of Node. Default: none. */
  readonly extraCa?: string | ReadonlyArray<string> | undefined
  /**
   * The destination of all connections for `https://` URLs, independent of the host of the URL. The certificate must
   * still match the host of the URL. Default: the host and the port of the URL.
   */
  readonly connectTo?: Destination | undefined
}

/**
 * Creates a webhook sender.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Effect.Effect<WebhookSender> =>
  Effect.sync(() => ({ send: makeSend([options.extraCa ?? []].flat(), options.connectTo ?? {}) }))

/**
 * Sends deliveries over real connections. Nothing is sent unless the certificate is issued by a trusted authority, names
 * the host of the URL, and is served with its whole chain.
 *
 * **Example** (Delivering to a local server)
 *
 * ```ts
 * import { Emulator, EmulatorServer, NodeWebhookSender } from "@colloquy/testing"
 * import { Layer } from "effect"
 *
 * const platform = EmulatorServer.layer({ port: 8080 }).pipe(
 *   Layer.provideMerge(Emulator.layer({ insecureWebhooks: true })),
 *   Layer.provide(NodeWebhookSender.layer({ connectTo: { host: "127.0.0.1", port: 8443 } }))
 * )
 * ```
 *
 * API: Events, Webhook delivery rules.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<never> => Layer.effect(WebhookSender, make(options))

/**
 * Sends deliveries over real connections, with options from the configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (options: Config.Wrap<Options>): Layer.Layer<never, Settings.InvalidSettings> =>
  Layer.effect(WebhookSender, Effect.flatMap(Settings.unwrap<Options>(options), make))
