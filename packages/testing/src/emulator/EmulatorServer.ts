/**
 * The emulator on real ports, for a bot in another process or in another language.
 *
 * @since 0.1.0
 */
import { UploadType } from "@colloquy/core/endpoints/Upload"
import * as Settings from "@colloquy/core/client/Settings"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Emulator } from "./Emulator.ts"
import { StoppableClock } from "./internal/command/clock.ts"
import { guard } from "./internal/http/guard.ts"
import { baseUrlOf, listen, resolveListener, type UploadServers, uploadUrls } from "./internal/http/nodeServer.ts"

/**
 * The addresses to listen on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The port of the API. Default: 0, which selects a free port. */
  readonly port?: number | undefined
  /**
   * The address to listen on. Default: `"127.0.0.1"`. With `0.0.0.0` or `::`, the emulator listens on all addresses of the
   * machine, and the URLs of uploads and images have the host name of the `Host` header of the request.
   */
  readonly host?: string | undefined
  /** The ports of the upload hosts, one for each kind of media. Default: free ports. */
  readonly uploadPorts?: Partial<Readonly<Record<UploadType, number>>> | undefined
  /**
   * Public host names under which the emulator is served, for bots and for the calls under `/_emulator`. Addresses, names
   * without a dot and names of private networks are always allowed; others are rejected, because a page on the internet
   * could use them to reach the emulator through a browser. Default: none.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
}

/**
 * The addresses of the running emulator.
 *
 * @category services
 * @since 0.1.0
 */
export class EmulatorServer extends Context.Service<
  EmulatorServer,
  {
    /** The base URL of the API for bots on this machine. */
    readonly url: string
    /** The base URLs of the upload hosts for bots on this machine. */
    readonly uploads: Readonly<Record<UploadType, string>>
  }
>()("@colloquy/testing/EmulatorServer") {}

/**
 * Starts the servers of the emulator. The servers stop when the scope closes, and open connections are closed.
 *
 * Fails with `ServeError` if a port is in use or the address does not exist.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options?: Options
) => Effect.Effect<EmulatorServer["Service"], HttpServerError.ServeError, Emulator | Scope.Scope> = Effect.fnUntraced(
  function* ({ allowedHosts = [], host = "127.0.0.1", port = 0, uploadPorts = {} }: Options = {}) {
    const emulator = yield* Emulator
    const handle = guard(
      emulator.handle,
      [host, ...allowedHosts].map((name) => name.toLowerCase())
    )
    const listenFor = (kind: UploadType) =>
      Effect.map(listen(kind, host, uploadPorts[kind] ?? 0), (server) => [kind, server] as const)
    const bound = yield* Effect.forEach(UploadType.literals, listenFor)
    const servers = Object.fromEntries(bound) as UploadServers
    for (const [kind, server] of bound) yield* server.serve(resolveListener(kind, servers), handle)
    // The API starts last: when its port accepts connections, the upload hosts are ready.
    const api = yield* listen("api", host, port)
    yield* api.serve(resolveListener("api", servers), handle)
    return { url: baseUrlOf(api), uploads: uploadUrls(servers) }
  }
)

/**
 * Runs the emulator of the program on real ports. The test acts through the `Emulator` service, and bots call `url`.
 *
 * **Example** (Listening on port 8080)
 *
 * ```ts
 * import { Emulator, EmulatorServer } from "@colloquy/testing"
 * import { Effect, Layer } from "effect"
 *
 * const address = EmulatorServer.EmulatorServer.use(({ url }) => Effect.succeed(url)).pipe(
 *   Effect.provide(EmulatorServer.layer({ port: 8080 }).pipe(Layer.provideMerge(Emulator.layer())))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<EmulatorServer, HttpServerError.ServeError, Emulator> =>
  Layer.effect(EmulatorServer, make(options))

/**
 * Runs the emulator of the program on real ports, with options from the configuration.
 *
 * **Example** (Reading the port from the environment)
 *
 * ```ts
 * import { EmulatorServer } from "@colloquy/testing"
 * import { Config } from "effect"
 *
 * const server = EmulatorServer.layerConfig({ port: Config.Int("EMULATOR_PORT") })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options>
): Layer.Layer<EmulatorServer, HttpServerError.ServeError | Settings.InvalidSettings, Emulator> =>
  Layer.effect(EmulatorServer, Effect.flatMap(Settings.unwrap<Options>(options), make))

/**
 * A clock that follows the real time, until the page or a call stops or moves the clock. A bot in the same program has the same
 * clock, so its timers are due when the clock is moved.
 *
 * **Example** (An emulator whose clock can be moved)
 *
 * ```ts
 * import { Emulator, EmulatorServer } from "@colloquy/testing"
 * import { Layer } from "effect"
 *
 * const server = EmulatorServer.layer().pipe(
 *   Layer.provideMerge(Emulator.layer()),
 *   Layer.provideMerge(EmulatorServer.layerClock)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerClock: Layer.Layer<never> = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (system) => new StoppableClock(system, Math.floor(system.currentTimeMillisUnsafe())))
)
