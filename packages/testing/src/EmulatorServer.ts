/**
 * The emulator on real loopback ports, for a bot in another process or in another language.
 *
 * @since 0.1.0
 */
import type { UploadType } from "@colloquy/core/Upload"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import { Emulator } from "./Emulator.ts"
import { addressesOf, addressOf, greeting, type UploadHosts } from "./internal/platform/greeting.ts"
import { listen } from "./internal/http/nodeServer.ts"

/**
 * Where to listen: `port` 0, which is the default, takes a free one. Uploads have a port for each kind of media, a free
 * one unless told. On `0.0.0.0` or `::`, bots are told the upload hosts under the name that they call the API by.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly uploadPorts?: Partial<Readonly<Record<UploadType, number>>> | undefined
}

/**
 * Where the emulator listens. `url` is the base URL for bots on this machine.
 *
 * @category services
 * @since 0.1.0
 */
export class EmulatorServer extends Context.Service<
  EmulatorServer,
  { readonly url: string; readonly uploads: Readonly<Record<UploadType, string>> }
>()("@colloquy/testing/EmulatorServer") {}

const make = Effect.fnUntraced(function* ({ host = "127.0.0.1", port = 0, uploadPorts = {} }: Options) {
  const { handle } = yield* Emulator
  const listenFor = (kind: UploadType) => listen(kind, host, uploadPorts[kind] ?? 0)
  const hosts: UploadHosts = {
    image: yield* listenFor("image"),
    video: yield* listenFor("video"),
    audio: yield* listenFor("audio"),
    file: yield* listenFor("file")
  }
  for (const kind of ["image", "video", "audio", "file"] as const) {
    yield* hosts[kind].answer(greeting(kind, hosts), handle)
  }
  // The port that bots know beforehand comes last: who waits for it finds everything ready.
  const api = yield* listen("api", host, port)
  yield* api.answer(greeting("api", hosts), handle)
  return { url: addressOf(api), uploads: addressesOf(hosts) }
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
