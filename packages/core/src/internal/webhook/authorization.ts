import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { packingOf } from "./body.ts"
import {
  type Answer,
  bodyLimit,
  forbidden,
  type Head,
  methodNotAllowed,
  notFound,
  notJson,
  notUnpacked,
  pathOf,
  tooLarge
} from "./http.ts"
import { refusedWith } from "./metrics.ts"
import { makeIsSecret } from "./secret.ts"

interface Options {
  readonly url: string
  readonly path: string
  readonly secret: Redacted.Redacted
  readonly secretHeader: string
  /** What is answered beside deliveries. */
  readonly beside: (path: string, head: Head) => Effect.Effect<Answer> | undefined
}

const tellEvery = 60_000

/** Says it at once and then once a minute: anybody can knock. */
const makeSeldom = (message: string, url: string) => {
  let toldAt = -Infinity
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (now - toldAt < tellEvery) return Effect.void
    toldAt = now
    return Effect.annotateLogs(Effect.logWarning(message), { url })
  })
}

const isJson = (type: string | undefined): boolean =>
  type === undefined || type === "application/json" || /^\s*[\w.+-]+\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)

/**
 * Answers what need not be read: `undefined` lets a delivery in. Whoever does not know the secret learns the path, the
 * method, and nothing else.
 */
export const makeGate = ({ beside, path, secret, secretHeader, url }: Options) => {
  const isSecret = makeIsSecret(secret)
  const header = secretHeader.toLowerCase()

  const tellSecret = makeSeldom(
    `Requests to the webhook are refused: their header ${secretHeader} is missing or does not hold the secret. ` +
      "A proxy may drop it, or somebody else may have subscribed this address.",
    url
  )
  const tellPath = makeSeldom(
    `A delivery came to another path than ${path}: tell the \`path\` at which requests arrive here.`,
    url
  )

  const telling = (status: number, answer: Effect.Effect<Answer>, tell: Effect.Effect<void> = Effect.void) =>
    Effect.andThen(Effect.andThen(refusedWith(status), tell), answer)

  const refusals = {
    path: telling(404, notFound),
    otherPath: telling(404, notFound, tellPath),
    method: telling(405, methodNotAllowed("POST")),
    secret: telling(403, forbidden, tellSecret),
    type: telling(415, notJson),
    packing: telling(415, notUnpacked),
    size: telling(413, tooLarge)
  }

  return (head: Head): Effect.Effect<Answer> | undefined => {
    const asked = head.url === path ? path : pathOf(head.url)
    const given = head.header(header)
    if (asked !== path) {
      return (
        beside(asked, head) ??
        (head.method === "POST" && given !== undefined && isSecret(given) ? refusals.otherPath : refusals.path)
      )
    }
    if (head.method !== "POST") return refusals.method
    if (!isSecret(given)) return refusals.secret
    if (!isJson(head.header("content-type"))) return refusals.type
    if (packingOf(head.header("content-encoding")) === undefined) return refusals.packing
    return Number(head.header("content-length") ?? 0) > bodyLimit ? refusals.size : undefined
  }
}
