import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"

export interface Address {
  readonly origin: string
  /** The path and the query. */
  readonly path: string
}

const originOf = /^https?:\/\/[^/?#]+(?=\/)/i

/** A path and a query that a URL parser does not change. */
const isNormal = /^(?:\/(?!\.|%2e)[\w.~!$&()*+,;=:@%-]*)+(?:\?[\w.~!$&()*+,;=:@%/?-]*)?$/i

const parse = (request: HttpClientRequest.HttpClientRequest): Address | undefined => {
  const url = Option.getOrUndefined(HttpClientRequest.toUrl(request))
  return url && { origin: url.origin, path: url.pathname + url.search }
}

/**
 * Creates a function that returns the address of a request, or `undefined` if it is invalid. All calls of a bot have the
 * same origin, which is parsed once, because parsing a URL takes longer than encoding a request (the benchmark
 * `call-cpu-over-undici`).
 */
export const makeAddressOf = () => {
  let prefix = ""
  let origin = ""
  return (request: HttpClientRequest.HttpClientRequest): Address | undefined => {
    const { hash, url, urlParams } = request
    if (urlParams.params.length > 0 || Option.isSome(hash)) return parse(request)
    if (prefix !== "" && url.startsWith(prefix)) {
      const path = url.slice(prefix.length)
      if (isNormal.test(path)) return { origin, path }
    }
    const address = parse(request)
    const found = originOf.exec(url)
    if (address !== undefined && found !== null && !found[0].includes("@")) {
      prefix = found[0]
      origin = address.origin
    }
    return address
  }
}
