import * as Json from "@colloquy/core/base/Json"
import type { StoreError } from "@colloquy/core/base/StoreError"
import type { Inbox } from "@colloquy/core/inbox/Inbox"
import type { WebhookRequest, WebhookResponse } from "@colloquy/core/inbox/Webhook"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import { actions } from "./actions.ts"
import { fileOf } from "./files.ts"
import { Refused } from "./refused.ts"
import { makeReplay } from "./replay.ts"
import { views } from "./views.ts"

/** The header that contains the token. A form and a link of another site cannot send the header. */
export const tokenHeader = "x-colloquy-token"

/** The page runs only its own script, and requests nothing from other hosts. */
const headers = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin"
}

const json = (status: number, body: unknown): WebhookResponse => ({
  status,
  headers: { ...headers, "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
  body: Json.stringify(body)
})

const hash = (text: string): Buffer => createHash("sha256").update(text).digest()

const serveFile = (name: string): WebhookResponse | undefined => {
  const file = fileOf(name === "" ? "index.html" : name)
  if (file !== undefined) {
    return {
      status: 200,
      headers: { ...headers, "content-type": file.type, "cache-control": "no-cache" },
      body: file.text
    }
  }
  // The addresses of the files are relative to the page, whose path ends with a slash.
  return /^[\w-]+$/.test(name) ? { status: 308, headers: { ...headers, location: `./${name}/` }, body: "" } : undefined
}

/** Answers the requests of a board. The handler looks only at the end of the path, so it can be mounted below any path. */
export const makeRespond = Effect.fnUntraced(function* (token: Redacted.Redacted) {
  const expected = hash(Redacted.value(token))
  const replay = yield* makeReplay

  const authorize = (given: string | undefined): Refused | undefined => {
    if (given === undefined) return new Refused({ status: 401, message: `The header ${tokenHeader} is missing.` })
    return timingSafeEqual(hash(given), expected)
      ? undefined
      : new Refused({ status: 403, message: "The token is wrong." })
  }

  const act = (name: string, query: URLSearchParams) => {
    const action = actions.get(name)
    if (action === undefined) return new Refused({ status: 404, message: `There is no action ${name}.` })
    return action(query, replay).pipe(
      Effect.tap((done) => Effect.logInfo(`Board: ${done}`)),
      Effect.tapError(({ message }) => Effect.logInfo(`Board: did not ${name.replace("-", " ")}. ${message}`)),
      Effect.map((done) => ({ done }))
    )
  }

  const view = (name: string, query: URLSearchParams) =>
    views.get(name)?.(query, replay) ?? new Refused({ status: 404, message: `There is no list ${name}.` })

  return ({ header, method, url }: WebhookRequest): Effect.Effect<WebhookResponse, never, Inbox> =>
    Effect.suspend((): Effect.Effect<WebhookResponse, Refused | StoreError, Inbox> => {
      const { pathname, searchParams } = URL.parse(url, "http://board") ?? new URL("http://board/invalid.url")
      const [, api, name = ""] = /\/(?:(api)\/)?([^/]*)$/.exec(pathname) ?? []
      const isRead = method === "GET" || method === "HEAD"
      if (api === undefined) {
        const served = isRead ? serveFile(name) : undefined
        return served === undefined
          ? new Refused({ status: isRead ? 404 : 405, message: `There is no ${method} ${pathname}.` })
          : Effect.succeed(served)
      }
      const refused = authorize(header(tokenHeader))
      if (refused !== undefined) return refused
      if (!isRead && method !== "POST") return new Refused({ status: 405, message: `${method} is not allowed.` })
      return Effect.map(isRead ? view(name, searchParams) : act(name, searchParams), (body) => json(200, body))
    }).pipe(
      Effect.catchTags({
        Refused: ({ message, status }) => Effect.succeed(json(status, { message })),
        StoreError: ({ message }) => Effect.succeed(json(503, { message }))
      }),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("The board could not answer.", cause), json(500, { message: "The board failed." }))
      )
    )
})
