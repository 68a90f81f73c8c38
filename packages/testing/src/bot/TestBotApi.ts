/**
 * A client for tests, whose endpoints are implemented by functions, without HTTP and JSON: the fastest way to test a
 * program that calls a few endpoints. `Emulator` emulates the whole platform.
 *
 * @since 0.1.0
 */
import type * as ApiError from "@colloquy/core/client/ApiError"
import { BotApi } from "@colloquy/core/client/BotApi"
import type * as Endpoint from "@colloquy/core/client/Endpoint"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * The function of one endpoint. {@link on} creates it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handler {
  /** The endpoint. */
  readonly endpoint: Endpoint.Any
  /** Executes a request. */
  readonly execute: (request: never) => Effect.Effect<unknown, ApiError.ApiError>
}

/**
 * Executes an endpoint with a function, which returns a success or fails with an error of the endpoint.
 *
 * @category constructors
 * @since 0.1.0
 */
export const on = <Request, Success, E extends ApiError.Declared = never>(
  endpoint: Endpoint.Endpoint<Request, Success, E>,
  execute: (request: Request) => Effect.Effect<Success, E | ApiError.Common>
): Handler => ({ endpoint, execute })

/**
 * Provides a client that executes the given endpoints. A call of another endpoint dies with an error that names it.
 *
 * **Example**
 *
 * ```ts
 * import { Messages } from "@colloquy/core"
 * import { Fixtures, TestBotApi } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const bot = TestBotApi.layer(
 *   TestBotApi.on(Messages.send, ({ text }) => Effect.succeed(Fixtures.message({ text })))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (...handlers: ReadonlyArray<Handler>): Layer.Layer<BotApi> => {
  const byEndpoint = new Map<unknown, Handler>(handlers.map((handler) => [handler.endpoint, handler]))
  const missing = (name: string) =>
    new Error(`TestBotApi has no function for ${name}: add TestBotApi.on(${name}, (request) => …) to TestBotApi.layer`)
  const execute = (endpoint: Endpoint.Any, request: unknown) =>
    Effect.suspend(() => {
      const handler = byEndpoint.get(endpoint)
      return handler === undefined ? Effect.die(missing(endpoint.endpoint)) : handler.execute(request as never)
    })
  return Layer.succeed(BotApi, { execute: execute as BotApi["Service"]["execute"] })
}
