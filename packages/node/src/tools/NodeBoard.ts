/**
 * A page for operators, as a handler for any server: an overview of the bot, handled updates, dead letters, chats, conversations, timers,
 * broadcasts and limits. `colloquy board` serves the same page on the local machine.
 *
 * The page itself has no data and needs no token. All data and all actions need the token of the options in the header
 * `x-colloquy-token`; there is no cookie. Every action is written to the log, in a line of the level info.
 *
 * @since 0.1.0
 */
import type { Inbox } from "@colloquy/core/inbox/Inbox"
import type { WebHandler, WebhookRequest, WebhookResponse } from "@colloquy/core/inbox/Webhook"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import { headOf } from "../inbox/internal/webhook/handler.ts"
import type { Handler } from "../inbox/NodeWebhook.ts"
import { makeRespond } from "./internal/board/respond.ts"

/**
 * The token of the board is too short. The message does not contain the token.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidToken extends Data.TaggedError("InvalidToken") {
  override get message() {
    return `The token of the board must have at least ${minTokenLength} characters.`
  }
}

/**
 * The options of a board.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The token that the page asks for and sends with each request for data: at least 16 characters. */
  readonly token: string | Redacted.Redacted
}

const minTokenLength = 16

const respondWith = Effect.fnUntraced(function* ({ token }: Options) {
  const redacted = Redacted.isRedacted(token) ? token : Redacted.make(token, { label: "the token of the board" })
  if (Redacted.value(redacted).length < minTokenLength) return yield* new InvalidToken()
  const respond = yield* makeRespond(redacted)
  const run = Effect.runPromiseWith(yield* Effect.context<Inbox>())
  return (request: WebhookRequest) => run(respond(request))
})

/**
 * Returns the board as a function from a web-standard `Request` to a `Response`, for Hono, Bun, Deno and other servers. Mount the board
 * behind a login of your own, below any path. The board shows chats and broadcasts if the program has a `ChatStore` and a
 * `BroadcastStore`. The promise of the function never rejects. A replay of many dead letters goes on until the scope closes.
 *
 * Fails with {@link InvalidToken} if the token has less than 16 characters.
 *
 * **Example** (Mount the board in Hono)
 *
 * ```ts
 * import { NodeBoard } from "@colloquy/node"
 * import { Config, Effect } from "effect"
 * import { Hono } from "hono"
 *
 * const app = Effect.gen(function* () {
 *   const board = yield* NodeBoard.toWebHandler({ token: yield* Config.Redacted("BOARD_TOKEN") })
 *   return new Hono().all("/board/*", (context) => board(context.req.raw))
 * })
 * ```
 *
 * @category servers
 * @since 0.1.0
 */
export const toWebHandler = (options: Options): Effect.Effect<WebHandler, InvalidToken, Inbox | Scope.Scope> =>
  Effect.map(respondWith(options), (respond) => async ({ headers, method, url }) => {
    const { body, ...init } = await respond({ method, url, header: (name) => headers.get(name) ?? undefined })
    return new Response(body === "" || method === "HEAD" ? null : body, init)
  })

const write =
  ({ method }: IncomingMessage, response: ServerResponse) =>
  ({ body, headers, status }: WebhookResponse): void => {
    if (response.destroyed || response.headersSent) return
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) })
    response.end(method === "HEAD" ? undefined : body)
  }

/**
 * Returns the board as a request handler of `node:http`, for Express, Fastify and other servers. See {@link toWebHandler}.
 *
 * **Example** (Mount the board in Express)
 *
 * ```ts
 * import { NodeBoard } from "@colloquy/node"
 * import { Config, Effect } from "effect"
 * import express from "express"
 *
 * const app = Effect.gen(function* () {
 *   const board = yield* NodeBoard.toNodeHandler({ token: yield* Config.Redacted("BOARD_TOKEN") })
 *   return express().use("/board", board)
 * })
 * ```
 *
 * @category servers
 * @since 0.1.0
 */
export const toNodeHandler = (options: Options): Effect.Effect<Handler, InvalidToken, Inbox | Scope.Scope> =>
  Effect.map(
    respondWith(options),
    (respond) => (request, response) => void respond(headOf(request)).then(write(request, response))
  )
