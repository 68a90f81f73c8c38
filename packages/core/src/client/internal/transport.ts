import { Transport } from "../ApiError.ts"
import { makeRedact } from "./redact.ts"

/** A kind of failures below HTTP: whether the platform may have received the request, and the remedy. */
interface Kind extends Pick<Transport, "kind" | "isSent" | "hint"> {
  /** Codes of the system, the TLS library and the HTTP client. The first kind that matches is used. */
  readonly codes: RegExp
}

const connectTimeout: Kind = {
  kind: "ConnectTimeout",
  isSent: false,
  hint: "The host did not accept the connection in time: check the network, the firewall, and whether a proxy is needed.",
  codes: /^(EHOST|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT)/
}

const timeout: Kind = {
  kind: "Timeout",
  isSent: true,
  hint: "No response arrived in time, and the request may have been executed. Increase the time-out, or try again later.",
  codes: /^(UND_ERR_(HEADERS|BODY)_TIMEOUT|ETIMEDOUT|TimeoutError)/
}

const other = { kind: "Other", isSent: true, hint: "See the cause for the error of the HTTP client." } as const

const kinds: ReadonlyArray<Kind> = [
  {
    kind: "Refused",
    isSent: false,
    hint: "Nothing listens at this address: check the base URL, and that the host is up.",
    codes: /^ECONNREFUSED/
  },
  {
    kind: "Unresolved",
    isSent: false,
    hint: "The host name has no address: check the base URL and the network.",
    codes: /^(ENOTFOUND|EAI_)/
  },
  {
    kind: "Untrusted",
    isSent: false,
    hint:
      "The issuer of the certificate is not trusted: set BOT_EXTRA_CA (the option extraCa of NodeBotHttpClient.layer) to " +
      "its root certificate, as PEM text or as the path of a PEM file.",
    codes: /^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_(SIG|UNT|CHAIN)|INVALID_CA)/
  },
  {
    kind: "Untrusted",
    isSent: false,
    hint: "The certificate of the host is not valid at this time, or is for another name: check the base URL and the clock of this machine.",
    codes: /^(CERT_|ERR_TLS_CERT)/
  },
  {
    kind: "Untrusted",
    isSent: false,
    hint: "The host does not use TLS at this address: check the scheme and the port of the base URL.",
    codes: /^ERR_SSL_WRONG_VERSION/
  },
  connectTimeout,
  timeout,
  {
    kind: "Reset",
    isSent: true,
    hint: "The connection broke before the whole response was read, and the request may have been executed. Try again.",
    codes: /^(ECONNRESET|EPIPE|UND_ERR_(SOCKET|RES_))/
  },
  {
    kind: "Proxy",
    isSent: false,
    hint: "The proxy refused the connection: check the setting BOT_PROXY, its address, user name and password.",
    codes: /^(UND_ERR_PRX|ERR_PROXY)/
  },
  {
    kind: "Invalid",
    isSent: false,
    hint: "The request cannot be written as HTTP: check the base URL, and that the token has no line break.",
    codes: /^(UND_ERR_INVALID_ARG|ERR_INVALID_URL|InvalidUrl)/
  }
]

const maxDepth = 8

/** An error of an HTTP client, and the causes inside the error. */
export const causesOf = (error: unknown, depth = 0): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  if (depth > maxDepth || typeof error !== "object" || error === null) return []
  const found = error as Record<string, unknown>
  const { cause, errors, reason } = found
  const inner = [cause, reason, ...(Array.isArray(errors) ? errors : [])]
  return [found, ...inner.flatMap((next) => causesOf(next, depth + 1))]
}

const linkOf = ({ _tag, code = _tag, message, syscall }: Readonly<Record<string, unknown>>) => ({
  code: typeof code === "string" ? code : undefined,
  syscall,
  message: typeof message === "string" ? message : "",
  kind: kinds.find(({ codes }) => typeof code === "string" && codes.test(code))
})

/** Describes an error of an HTTP client by its chain of causes. */
export const describe = (cause: unknown) => {
  const links = causesOf(cause).map(linkOf)
  const at = links.findIndex(({ kind }) => kind !== undefined)
  const found = links[at]
  const hasMessage = ({ message }: { readonly message: string }) => message !== ""
  const detail = (at < 0 ? links.findLast(hasMessage) : links.slice(at).find(hasMessage))?.message ?? String(cause)
  // The system has the same code for a connection that is not established and for a connection that stalls.
  const isConnecting = found?.kind === timeout && links.some(({ syscall }) => syscall === "connect")
  const { kind, isSent, hint } = isConnecting ? connectTimeout : (found?.kind ?? other)
  return { kind, isSent, hint, code: found?.code, detail: detail.replace(/\s+/g, " ").trim() }
}

/** Returns the error of a failed request, without the secret that `redact` removes. */
export const toTransport = (cause: unknown, redact = makeRedact("")): Transport => {
  const { code, detail, ...failure } = describe(cause)
  return new Transport({
    ...failure,
    ...(code === undefined ? {} : { code }),
    detail: redact.text(detail),
    cause: redact.cause(cause)
  })
}
