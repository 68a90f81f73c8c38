/**
 * The emulator on real loopback ports, for a bot in another process or in another language.
 *
 * @since 0.1.0
 */
import type { UploadType } from "@colloquy/core/Uploads"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import { Emulator } from "./Emulator.ts"
import { listen } from "./internal/nodeServer.ts"

/**
 * Where to listen: `port` 0, which is the default, takes a free one. Uploads have a free port for each kind of media.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly port?: number | undefined
  readonly host?: string | undefined
}

/**
 * Where the emulator listens. `url` is the base URL for bots.
 *
 * @category services
 * @since 0.1.0
 */
export class EmulatorServer extends Context.Service<
  EmulatorServer,
  { readonly url: string; readonly uploads: Readonly<Record<UploadType, string>> }
>()("@colloquy/testing/EmulatorServer") {}

const kinds: ReadonlyArray<UploadType> = ["image", "video", "audio", "file"]

const make = Effect.fnUntraced(function* ({ host = "127.0.0.1", port = 0 }: Options) {
  const { handle } = yield* Emulator
  const hosts = yield* Effect.forEach(kinds, (kind) =>
    Effect.map(listen(host, 0), (listening) => ({ kind, ...listening }))
  )
  const uploads = Object.fromEntries(hosts.map(({ address, kind }) => [kind, address])) as Record<UploadType, string>
  for (const { answer, kind } of hosts) yield* answer({ at: kind, uploads }, handle)
  // The port that bots know beforehand comes last: who waits for it finds everything ready.
  const api = yield* listen(host, port)
  yield* api.answer({ at: "api", uploads }, handle)
  return { url: api.address, uploads }
})

/**
 * Puts the emulator of the program on real ports: the test drives it, while bots call `url`.
 *
 * **Example**
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
