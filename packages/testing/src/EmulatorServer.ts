/**
 * The emulator on real loopback ports, for a bot in another process or in another language.
 *
 * @since 0.1.0
 */
import type { UploadType } from "@colloquy/core/Uploads"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createServer } from "node:http"
import { Emulator } from "./Emulator.ts"
import { answerNoHttp } from "./internal/noHttp.ts"
import { type Entrance, type Request, Unreadable } from "./internal/wire.ts"

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

const unreadable = (cause: unknown) => new Unreadable({ cause })

const toRequest = (request: HttpServerRequest.HttpServerRequest, entrance: Entrance): Request => {
  const mark = request.url.indexOf("?")
  return {
    method: request.method,
    path: mark < 0 ? request.url : request.url.slice(0, mark),
    query: mark < 0 ? "" : request.url.slice(mark),
    headers: request.headers,
    body: {
      text: Effect.mapError(request.text, unreadable),
      bytes: Stream.mapError(request.stream, unreadable)
    },
    entrance
  }
}

/** A lost connection is one that breaks: a listening port cannot refuse. */
const hangUp = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.sync(() => {
    NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
    return HttpServerResponse.empty()
  })

// The server runs its handlers uninterruptibly: a poll whose caller has gone would go on.
const answering = (emulator: Emulator["Service"], entrance: Entrance) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.matchEffect(Effect.interruptible(emulator.handle(toRequest(request, entrance))), {
      onSuccess: ({ body, bytes, headers, status }) =>
        Effect.succeed(
          bytes === undefined
            ? HttpServerResponse.text(body, { status, headers })
            : HttpServerResponse.uint8Array(bytes, { status, headers, contentType: headers["content-type"] })
        ),
      onFailure: () => hangUp(request)
    })
  )

const kinds: ReadonlyArray<UploadType> = ["image", "video", "audio", "file"]

interface Listening {
  readonly address: string
  readonly answer: (entrance: Entrance) => Effect.Effect<void, never, Scope.Scope>
}

const listen = Effect.fnUntraced(function* (emulator: Emulator["Service"], host: string, port: number) {
  const node = createServer().on("clientError", answerNoHttp)
  const server = yield* NodeHttpServer.make(() => node, { host, port })
  // Closing breaks what is under way: a poll would otherwise hold it up for its whole time-out.
  const close = Effect.sync(() => {
    node.close()
    node.closeAllConnections()
  })
  return {
    address: HttpServer.formatAddress(server.address),
    answer: (entrance) =>
      Effect.andThen(
        server.serve(answering(emulator, entrance)),
        Effect.addFinalizer(() => close)
      )
  } satisfies Listening
})

const make = Effect.fnUntraced(function* ({ host = "127.0.0.1", port = 0 }: Options) {
  const emulator = yield* Emulator
  const api = yield* listen(emulator, host, port)
  const hosts = yield* Effect.forEach(kinds, (kind) =>
    Effect.map(listen(emulator, host, 0), (listening) => ({ kind, ...listening }))
  )
  const uploads = Object.fromEntries(hosts.map(({ address, kind }) => [kind, address])) as Record<UploadType, string>
  yield* api.answer({ at: "api", uploads })
  for (const { answer, kind } of hosts) yield* answer({ at: kind, uploads })
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
