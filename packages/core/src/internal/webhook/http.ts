import * as Effect from "effect/Effect"

/** A request up to its body. `header` gives a header by its name in lower case. */
export interface Head {
  readonly method: string
  readonly url: string
  readonly header: (name: string) => string | undefined
}

/** What is answered, whatever the server. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Mebibytes are for photos: an update is a few kilobytes. */
export const bodyLimit = 2 ** 20

export const answer = (status: number, headers: Answer["headers"] = {}, body = ""): Effect.Effect<Answer> =>
  Effect.succeed({ status, headers, body })

export const ok = answer(200)

export const forbidden = answer(403)

export const notFound = answer(404)

export const methodNotAllowed = (allow: string) => answer(405, { allow })

export const tooSlow = answer(408, { connection: "close" })

export const tooLarge = answer(413)

export const notJson = answer(415, { accept: "application/json" })

export const notUnpacked = answer(415, { "accept-encoding": "gzip, deflate" })

/** The platform tries again after a minute. */
export const unavailable = answer(503, { "retry-after": "60" })

/** The path of an address, or of the part of it that a request names. */
export const pathOf = (url: string): string => {
  const from = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2)
  if (from < 0) return "/"
  const to = url.slice(from).search(/[?#]/)
  return to < 0 ? url.slice(from) : url.slice(from, from + to)
}
