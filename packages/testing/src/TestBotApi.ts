/**
 * A bot's client made of functions: decoded values, no wire. The cheapest way to test a program that calls a few
 * endpoints; `Emulator` is the platform itself.
 *
 * @since 0.1.0
 */
import type * as ApiError from "@colloquy/core/ApiError"
import { BotApi } from "@colloquy/core/BotApi"
import type * as Endpoint from "@colloquy/core/Endpoint"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * How one endpoint answers in a test. {@link on} makes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handler {
  readonly endpoint: Endpoint.Any
  readonly answer: (request: never) => Effect.Effect<unknown, ApiError.ApiError>
}

/**
 * Answers an endpoint with what `answer` gives: its success, or one of its errors.
 *
 * @category constructors
 * @since 0.1.0
 */
export const on = <Request, Success, E extends ApiError.Declared = never>(
  endpoint: Endpoint.Endpoint<Request, Success, E>,
  answer: (request: Request) => Effect.Effect<Success, E | ApiError.Common>
): Handler => ({ endpoint, answer })

/**
 * A client that answers the given endpoints. A call of any other one is a defect that names it.
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
    new Error(`The test gives no answer to ${name}: add TestBotApi.on(${name}, (request) => …) to its TestBotApi.layer`)
  const execute = (endpoint: Endpoint.Any, request: unknown) =>
    Effect.suspend(() => {
      const handler = byEndpoint.get(endpoint)
      return handler === undefined ? Effect.die(missing(endpoint.endpoint)) : handler.answer(request as never)
    })
  return Layer.succeed(BotApi, { execute: execute as BotApi["Service"]["execute"] })
}
