import * as Effect from "effect/Effect"
import type { Handler, Request } from "../../EmulatorHttp.ts"
import * as refusal from "./refusal.ts"

/** The host name of a `Host` header, without the port, in lower case. `undefined` for a malformed header. */
const hostnameOf = (host: string): string | undefined => {
  const url = `http://${host}`
  return /^[\w.:[\]%-]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : undefined
}

/** Names that no public DNS server resolves: reserved by RFC 2606, 6761, 6762, 8375 and 9476, or used for private networks. */
const privateSuffixes = /(?:^|\.)(?:localhost|local|internal|home\.arpa|test|example|invalid|alt|lan)$/

const isAddress = (hostname: string): boolean => hostname.startsWith("[") || /^[\d.]+$/.test(hostname)

/**
 * Whether a page on the internet cannot have this host name: an address, a name without a dot (such as a container), a
 * name of a private network, or a name that the user allows.
 */
const isTrusted = (host: string, allowed: ReadonlyArray<string>): boolean => {
  const hostname = hostnameOf(host)
  if (hostname === undefined) return false
  return isAddress(hostname) || !hostname.includes(".") || privateSuffixes.test(hostname) || allowed.includes(hostname)
}

const problemOf = (
  { headers, listener }: Request,
  isTrustedHost: (host: string) => boolean
): refusal.Refusal | undefined => {
  const { host, origin } = headers
  if (host === undefined) return undefined
  if (!isTrustedHost(host)) {
    return refusal.of(
      403,
      "host.denied",
      `The emulator is not served under the host ${JSON.stringify(host)}: use localhost, or start the emulator with --allow-host`
    )
  }
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    return refusal.of(403, "origin.denied", `The emulator is not served to pages of the origin ${origin}`)
  }
  // The images of the page are served by another host than the page.
  if (listener.kind !== "api") return undefined
  return headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-mode"] !== "navigate"
    ? refusal.of(403, "origin.denied", "The emulator is not served to pages of other sites")
    : undefined
}

/**
 * Refuses requests that a page on the internet can send through the browser of a developer: requests under a public
 * host name, which DNS rebinding directs to this machine, and requests of another origin, such as forms. The token of a
 * bot is no protection, because the default is known. A program that sends no `Host` is not a browser.
 */
export const guard = (handle: Handler, allowed: ReadonlyArray<string>): Handler => {
  // A bot uses one host name for all of its requests.
  let last = { host: "", isTrusted: false }
  const isTrustedHost = (host: string): boolean => {
    if (host !== last.host) last = { host, isTrusted: isTrusted(host, allowed) }
    return last.isTrusted
  }
  return (request) => {
    const problem = problemOf(request, isTrustedHost)
    return problem === undefined ? handle(request) : Effect.succeed(refusal.toResponse(problem, request.listener.kind))
  }
}
