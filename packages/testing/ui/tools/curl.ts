import * as Json from "@colloquy/core/base/Json"
import type { RequestView } from "../types.ts"

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Headers that curl sets itself, or that belong to the connection of the bot. */
const omitted = new Set([
  "authorization",
  "host",
  "connection",
  "content-length",
  "accept-encoding",
  "transfer-encoding",
  "user-agent",
  "accept"
])

/** A request as a command in a shell. The token is `$TOKEN`. */
export const curlOf = ({ body, headers, method, path, query }: RequestView, origin: string): string => {
  const content =
    body === null || body === undefined ? undefined : typeof body === "string" ? body : Json.stringify(body)
  const others = Object.entries(headers).filter(([name]) => !omitted.has(name))
  return [
    `curl -X ${method} ${quote(origin + path + query)}`,
    `-H "Authorization: $TOKEN"`,
    ...others.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(content === undefined ? [] : [`--data-raw ${quote(content)}`])
  ].join(" \\\n  ")
}
