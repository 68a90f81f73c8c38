import type { TransportKind } from "../ApiError.ts"

/** What went wrong below HTTP, whether the request can have arrived, and what to do about it. */
export interface TransportFailure {
  readonly kind: TransportKind
  readonly sent: boolean
  readonly code: string | undefined
  readonly detail: string
  readonly hint: string
}

type Kind = Omit<TransportFailure, "code" | "detail">

const kinds = {
  refused: {
    kind: "Refused",
    sent: false,
    hint: "Nothing listens there: check the base URL and that the host is up."
  },
  unresolved: {
    kind: "Unresolved",
    sent: false,
    hint: "The host name has no address: check the base URL and the network."
  },
  untrusted: {
    kind: "Untrusted",
    sent: false,
    hint:
      "The certificate's issuer is not among the trusted roots: give its root certificate as the setting BOT_EXTRA_ROOT " +
      "(the option extraRoot of NodeTrust.layer), as PEM text or the path of a PEM file."
  },
  invalidCertificate: {
    kind: "Untrusted",
    sent: false,
    hint: "The host's certificate is out of date or for another name: check the base URL and the clock of this machine."
  },
  notTls: {
    kind: "Untrusted",
    sent: false,
    hint: "The host does not speak TLS there: check the scheme and the port of the base URL."
  },
  connectTimeout: {
    kind: "ConnectTimeout",
    sent: false,
    hint: "The host did not accept the connection in time: check the network, a firewall, or whether a proxy is needed."
  },
  timeout: {
    kind: "Timeout",
    sent: true,
    hint: "No answer came in time: it may have been carried out. Raise the time-out or try again later."
  },
  reset: {
    kind: "Reset",
    sent: true,
    hint: "The connection broke before the whole answer was read: it may have been carried out. Try again."
  },
  proxy: {
    kind: "Proxy",
    sent: false,
    hint: "The proxy refused: check the setting BOT_PROXY, its address, user name and password."
  },
  invalid: {
    kind: "Invalid",
    sent: false,
    hint: "The request cannot be written as HTTP: check the base URL, and that the token has no line break in it."
  },
  other: { kind: "Other", sent: true, hint: "See the cause for what the HTTP client said." }
} as const satisfies Record<string, Kind>

const codes: Readonly<Record<string, Kind>> = {
  ECONNREFUSED: kinds.refused,
  ENOTFOUND: kinds.unresolved,
  EAI_AGAIN: kinds.unresolved,
  EAI_FAIL: kinds.unresolved,
  EHOSTDOWN: kinds.connectTimeout,
  EADDRNOTAVAIL: kinds.connectTimeout,
  EHOSTUNREACH: kinds.connectTimeout,
  ENETUNREACH: kinds.connectTimeout,
  UNABLE_TO_GET_ISSUER_CERT: kinds.untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: kinds.untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: kinds.untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: kinds.untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: kinds.untrusted,
  CERT_SIGNATURE_FAILURE: kinds.untrusted,
  CERT_UNTRUSTED: kinds.untrusted,
  CERT_CHAIN_TOO_LONG: kinds.untrusted,
  INVALID_CA: kinds.untrusted,
  CERT_REVOKED: kinds.invalidCertificate,
  CERT_HAS_EXPIRED: kinds.invalidCertificate,
  CERT_NOT_YET_VALID: kinds.invalidCertificate,
  ERR_TLS_CERT_ALTNAME_INVALID: kinds.invalidCertificate,
  UND_ERR_CONNECT_TIMEOUT: kinds.connectTimeout,
  UND_ERR_HEADERS_TIMEOUT: kinds.timeout,
  UND_ERR_BODY_TIMEOUT: kinds.timeout,
  ETIMEDOUT: kinds.timeout,
  TimeoutError: kinds.timeout,
  ECONNRESET: kinds.reset,
  EPIPE: kinds.reset,
  UND_ERR_SOCKET: kinds.reset,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: kinds.reset,
  UND_ERR_PRX_TLS: kinds.proxy,
  UND_ERR_PRX_CONN: kinds.proxy,
  ERR_PROXY_REFUSED: kinds.proxy,
  ERR_SSL_WRONG_VERSION_NUMBER: kinds.notTls,
  UND_ERR_INVALID_ARG: kinds.invalid,
  InvalidUrlError: kinds.invalid
}

interface Link {
  readonly code: string | undefined
  readonly syscall: unknown
  readonly message: string
}

const maxDepth = 8

const nested = (error: Record<string, unknown>): ReadonlyArray<unknown> => [
  error["cause"],
  error["reason"],
  ...(Array.isArray(error["errors"]) ? error["errors"] : [])
]

const chain = (cause: unknown, depth = 0): ReadonlyArray<Link> => {
  if (depth > maxDepth || typeof cause !== "object" || cause === null) return []
  const error = cause as Record<string, unknown>
  const named = error["code"] ?? error["_tag"]
  const link: Link = {
    code: typeof named === "string" ? named : undefined,
    syscall: error["syscall"],
    message: typeof error["message"] === "string" ? error["message"] : ""
  }
  return [link, ...nested(error).flatMap((inner) => chain(inner, depth + 1))]
}

const kindOf = (links: ReadonlyArray<Link>, at: number): Kind => {
  if (at < 0) return kinds.other
  const kind = codes[links[at].code!]
  // The system has one code for a connection that does not come about and for one that falls silent.
  return kind === kinds.timeout && links.some(({ syscall }) => syscall === "connect") ? kinds.connectTimeout : kind
}

/** Reads the chain of causes that an HTTP client gave. */
export const describe = (cause: unknown): TransportFailure => {
  const links = chain(cause)
  const at = links.findIndex(({ code }) => code !== undefined && Object.hasOwn(codes, code))
  const said = (link: Link): boolean => link.message !== ""
  const detail = (at < 0 ? links.findLast(said) : links.slice(at).find(said))?.message ?? String(cause)
  return { ...kindOf(links, at), code: links[at]?.code, detail: detail.replace(/\s+/g, " ").trim() }
}
