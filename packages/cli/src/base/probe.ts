import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as http from "node:http"
import * as https from "node:https"
import { explainNetwork } from "./network.ts"

/** The answer of a webhook to a request with a secret. */
export type Answer =
  | { readonly _tag: "Accepted" }
  | { readonly _tag: "Rejected" }
  | { readonly _tag: "Other"; readonly problem: string }

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
 * stores nothing.
 */
export const probe = (url: string, header: string, secret: Redacted.Redacted): Effect.Effect<Answer> =>
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
    Effect.map(({ statusCode: status = 0 }): Answer => {
      if (status === 415) return { _tag: "Accepted" }
      if (status === 403) return { _tag: "Rejected" }
      return {
        _tag: "Other",
        problem: `${url} answered ${status} to a request with the secret, and a Colloquy webhook answers 415 or 403. Check that the address leads to the bot.`
      }
    }),
    Effect.orElseSucceed((error) => ({
      _tag: "Other" as const,
      problem: `${url} cannot be reached: ${explainNetwork(error)}`
    }))
  )
