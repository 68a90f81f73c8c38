import type * as Endpoint from "@colloquy/core/client/Endpoint"
import * as Json from "@colloquy/core/base/Json"
import type * as declarations from "../src/emulator/internal/control/declarations.ts"
import { routes } from "./routes.ts"
import { transport } from "./transport.ts"

type Declarations = typeof declarations

/** The name of a call of the control API. */
export type Name = keyof typeof routes & keyof Declarations

/** The request of a call of the control API. */
export type Request<K extends Name> = Declarations[K] extends Endpoint.Any ? Endpoint.Request<Declarations[K]> : never

/** The response of a call of the control API. */
export type Success<K extends Name> = Declarations[K] extends Endpoint.Any ? Endpoint.Success<Declarations[K]> : never

/** A call that the emulator did not accept or did not receive. */
export class CallError extends Error {}

const root = "/_emulator"

/** Replaces `{chatId}` by the field `chat_id`, and returns the fields that are not in the path. */
const fill = (path: string, fields: Record<string, unknown>): readonly [string, Record<string, unknown>] => {
  const rest = { ...fields }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const key = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const value = rest[key]
    delete rest[key]
    return encodeURIComponent(String(value))
  })
  return [filled, rest]
}

const toQuery = (fields: Record<string, unknown>): string => {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(fields)) if (value != null) query.set(key, String(value))
  return query.size === 0 ? "" : `?${query}`
}

const read = (text: string): unknown => {
  try {
    return Json.parse(text)
  } catch {
    return { message: text.slice(0, 200) }
  }
}

/** Calls the control API. Rejects with `CallError`. */
export const call = async <K extends Name>(name: K, request: Request<K>): Promise<Success<K>> => {
  const [method, path] = routes[name]
  const [filled, rest] = fill(path, (request ?? {}) as Record<string, unknown>)
  const hasBody = method !== "GET"
  const url = root + filled + (hasBody ? "" : toQuery(rest))
  const init = hasBody
    ? { method, headers: { "content-type": "application/json" }, body: Json.stringify(rest) }
    : { method }
  const response = await transport()
    .request(url, init)
    .catch(() => {
      throw new CallError("The emulator cannot be reached")
    })
  const body = read(await response.text())
  if (response.ok) return body as Success<K>
  const { message = response.statusText } = body as Partial<CallError>
  throw new CallError(message)
}

/** The address of the events from a position on. The page reads the details of a request on demand. */
export const eventsUrl = (from: number): string => `${root}/events?details=false&max_lag=3000&from=${from}`

/** The address of the content of a file. */
export const mediaUrl = (token: string): string => `${root}/media/${encodeURIComponent(token)}`

/** The address of all events as a file. */
export const journalUrl = `${root}/journal`
