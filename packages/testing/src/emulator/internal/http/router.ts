import { paramKey } from "@colloquy/core/client/Endpoint"
import type * as Endpoint from "@colloquy/core/client/Endpoint"
import * as Effect from "effect/Effect"
import * as FindMyWay from "effect/http/FindMyWay"
import type { Request, Response } from "../../EmulatorHttp.ts"
import * as refusal from "./refusal.ts"
import { allow } from "./wire.ts"

export type Match =
  | { readonly _tag: "Found"; readonly endpoint: Endpoint.Any; readonly params: Readonly<Record<string, string>> }
  | { readonly _tag: "MethodNotAllowed"; readonly allowed: ReadonlyArray<string> }
  | { readonly _tag: "NotFound" }

export type Router = (method: string, path: string) => Match

const exact = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: Infinity
}

/** `/chats/{chatId}` as a pattern of the router. The key of the request is `chat_id`. */
const patternOf = (path: string): FindMyWay.PathInput =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `:${paramKey(name)}`) as FindMyWay.PathInput

/** The methods of a path, with HEAD for GET, and OPTIONS. */
export const allowedMethods = (methods: Iterable<string>): ReadonlyArray<string> =>
  [...methods].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).concat("OPTIONS")

const emptySegment = /\/\//

/** Finds the endpoint of a request by the methods and paths of the declarations. */
export const make = (endpoints: ReadonlyArray<Endpoint.Any>): Router => {
  const router = FindMyWay.make<Endpoint.Any>(exact)
  for (const endpoint of endpoints) {
    const { method, path } = endpoint.declaration
    router.on(method, patternOf(path), endpoint)
  }

  return (method, path) => {
    if (emptySegment.test(path)) return { _tag: "NotFound" }
    // FindMyWay ends a path at `;` and `#`: in a request these belong to the path. A slash at the end does not.
    const encoded = path.replaceAll(/[;#]/g, encodeURIComponent).replace(/(.)\/$/, "$1")
    const found = router.find(method === "HEAD" ? "GET" : method, encoded)
    if (found !== undefined) {
      return { _tag: "Found", endpoint: found.handler, params: found.params as Readonly<Record<string, string>> }
    }
    const methods = endpoints
      .filter((endpoint) => router.find(endpoint.declaration.method, encoded)?.handler === endpoint)
      .map(({ declaration }) => declaration.method)
    return methods.length === 0 ? { _tag: "NotFound" } : { _tag: "MethodNotAllowed", allowed: allowedMethods(methods) }
  }
}

/** Answers a request that no endpoint takes. */
export const unmatched = (
  match: Exclude<Match, { readonly _tag: "Found" }> | undefined,
  { method, path }: Request
): refusal.Refusable<Response> => {
  if (match?._tag !== "MethodNotAllowed") return refusal.notFound(`Path ${path}`)
  return method === "OPTIONS"
    ? Effect.succeed(allow(match.allowed))
    : refusal.methodNotAllowed(`${method} ${path} is not allowed`, match.allowed)
}
