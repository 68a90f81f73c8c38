import * as Effect from "effect/Effect"
import type { Request } from "../../EmulatorHttp.ts"
import { Refusal } from "../http/refusal.ts"

const forbidden = (code: string, message: string) => Effect.fail(new Refusal({ status: 403, body: { code, message } }))

/** The host name of a `Host` header, without the port, in lower case. `undefined` if it is malformed. */
const hostnameOf = (host: string): string | undefined => {
  const url = `http://${host}`
  return /^[\w.:[\]%-]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : undefined
}

/** Names that no public DNS server resolves: reserved by RFC 2606, 6761, 6762, 8375 and 9476, or used for private networks. */
const privateSuffixes = /(?:^|\.)(?:localhost|local|internal|home\.arpa|test|example|invalid|alt|lan)$/

const isAddress = (hostname: string): boolean => hostname.startsWith("[") || /^[\d.]+$/.test(hostname)

/**
 * Whether a page on the internet cannot have this host name: an address, a name without a dot such as that of a container,
 * a name of a private network, or one that the user allows.
 */
const isTrusted = (hostname: string, allowed: ReadonlyArray<string>): boolean =>
  isAddress(hostname) || !hostname.includes(".") || privateSuffixes.test(hostname) || allowed.includes(hostname)

/**
 * Rejects requests that a page on the internet can send through the browser of a developer: those under a public host name,
 * which DNS rebinding directs to this machine, and those of another origin, such as forms. In process there is no `Host`.
 */
export const guard = ({ headers, listener }: Request): Effect.Effect<void, Refusal> => {
  const { host, origin } = headers
  if (host === undefined) return Effect.void
  const hostname = hostnameOf(host)
  if (hostname === undefined || !isTrusted(hostname, listener.allowedHosts ?? [])) {
    return forbidden(
      "host.denied",
      `The calls under /_emulator are not served under the host ${JSON.stringify(host)}: use localhost, or start the emulator ` +
        "with --allow-host"
    )
  }
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    return forbidden("origin.denied", `The calls under /_emulator are not served to pages of the origin ${origin}`)
  }
  return headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-mode"] !== "navigate"
    ? forbidden("origin.denied", "The calls under /_emulator are not served to pages of other sites")
    : Effect.void
}
