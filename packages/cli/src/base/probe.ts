import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as http from "node:http"
import * as https from "node:https"
import { explainNetwork } from "./network.ts"

const timeout = 10_000

/** Sends a request on a connection of its own. Returns the head of the response. */
export const headOf = (
  url: URL,
  options: https.RequestOptions,
  body?: string
): Effect.Effect<http.IncomingMessage, unknown> =>
  Effect.callback((resume) => {
    const request = (url.protocol === "http:" ? http : https).request(url, { ...options, agent: false, timeout })
    request.on("response", (response) => {
      response.resume()
      resume(Effect.succeed(response))
    })
    request.on("timeout", () => request.destroy(Object.assign(new Error("time-out"), { code: "ETIMEDOUT" })))
    request.on("error", (error) => resume(Effect.fail(error)))
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

/**
 * Tests whether a webhook accepts a secret. The body is not JSON, so a webhook that accepts the secret answers 415 and
 * stores nothing. Fails with a sentence if nothing answers, or something that is not a webhook of Colloquy.
 */
export const probe = (url: string, header: string, secret: Redacted.Redacted): Effect.Effect<boolean, string> =>
  headOf(
    new URL(url),
    {
      method: "POST",
      headers: {
        [header]: Redacted.value(secret),
        "content-type": "text/plain",
        "content-length": "1",
        connection: "close"
      }
    },
    "-"
  ).pipe(
    Effect.mapError((error) => `${url} cannot be reached: ${explainNetwork(error)}`),
    Effect.flatMap(({ statusCode: status = 0 }) =>
      status === 415 || status === 403
        ? Effect.succeed(status === 415)
        : Effect.fail(
            `${url} answered ${status} to a request with the secret, and a Colloquy webhook answers 415 or 403. Check that the address leads to the bot.`
          )
    )
  )
