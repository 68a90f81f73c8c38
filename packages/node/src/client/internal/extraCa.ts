import * as Effect from "effect/Effect"
import { X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import * as tls from "node:tls"
import type { ExtraCaError } from "../NodeBotHttpClient.ts"

/** The fields of an `ExtraCaError`. */
type Failure = Pick<ExtraCaError, "problem" | "path" | "message">

/** The text of certificates, and where the text comes from. */
interface Source {
  readonly name: string
  readonly path?: string
  readonly text: string
}

const begin = /^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/
const block = /^-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/
const label = /-----BEGIN ([A-Z0-9 ]+)-----/

const failureOf = (problem: Failure["problem"], message: string, path?: string): Failure => ({
  problem,
  message: `extraCa (BOT_EXTRA_CA): ${message}`,
  ...(path === undefined ? undefined : { path })
})

const oneLine = (name: string) => name.split("\n").join(", ")

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown reason"

// A key or certificate without its PEM frame would pass for a path, and a message must not repeat it.
const looksLikeKeyMaterial = (value: string) => /[\r\n\0]/.test(value) || /^[A-Za-z0-9+/=\s]{64,}$/.test(value)

const load = (value: string): Effect.Effect<Source, Failure> => {
  if (value.includes("-----BEGIN")) {
    // Settings files often have a PEM text on one line, with its line ends written as \n.
    return Effect.succeed({ name: "the PEM text", text: value.replaceAll("\\n", "\n") })
  }
  if (looksLikeKeyMaterial(value)) {
    const message = `the value (${value.length} characters) is neither PEM text nor a path. PEM text starts with "-----BEGIN CERTIFICATE-----".`
    return Effect.fail(failureOf("NoCertificate", message))
  }
  const unreadable = (cause: unknown) => {
    const message = `cannot read ${value} (${codeOf(cause)}). Give the path of a PEM file that this process may read, or the PEM text itself.`
    return failureOf("Unreadable", message, value)
  }
  const read = Effect.tryPromise({ try: () => readFile(value, "latin1"), catch: unreadable })
  return Effect.map(read, (text) => ({ name: value, path: value, text }))
}

const parse = ({ name, path, text }: Source) => {
  const pieces = text.split(/(?=-----BEGIN )/).filter((piece) => begin.test(piece))
  if (pieces.length === 0) {
    const found = label.exec(text)
    const message =
      `${name} has no certificate${found === null ? "" : ` but a ${found[1]}`}. ` +
      `A PEM certificate starts with "-----BEGIN CERTIFICATE-----". Convert a DER file with ` +
      `"openssl x509 -inform der -in FILE -out root.pem".`
    return Effect.fail(failureOf("NoCertificate", message, path))
  }
  return Effect.forEach(pieces, (piece, index) => {
    const message = `certificate ${index + 1} of ${pieces.length} in ${name} is incomplete or damaged. Get the PEM file again.`
    return Effect.try({
      try: () => new X509Certificate(block.exec(piece)?.[0] ?? ""),
      catch: () => failureOf("Malformed", message, path)
    })
  })
}

const checkValidity = Effect.fnUntraced(function* (
  { name, path }: Source,
  certificates: ReadonlyArray<X509Certificate>
) {
  // TLS uses the clock of the system, so the clock of the program does not count.
  const now = yield* Effect.sync(() => performance.timeOrigin + performance.now())
  const expired = certificates.find(({ validToDate }) => validToDate.getTime() <= now)
  if (expired === undefined) return
  const message =
    `the certificate "${oneLine(expired.subject)}" in ${name} expired at ` +
    `${expired.validToDate.toISOString()}. Replace it with the current one.`
  return yield* Effect.fail(failureOf("Expired", message, path))
})

const isSelfIssued = (certificate: X509Certificate) => certificate.subject === certificate.issuer

const checkRoot = (certificates: ReadonlyArray<X509Certificate>, trusted: ReadonlyArray<string>) => {
  if (certificates.some(isSelfIssued)) return Effect.void
  const known = new Set(trusted.map((pem) => new X509Certificate(pem).subject))
  if (certificates.some((certificate) => known.has(certificate.issuer))) return Effect.void
  const [first] = certificates
  const message =
    `there is no root certificate: "${oneLine(first.subject)}" was issued by "${oneLine(first.issuer)}", which is not ` +
    `trusted. Give the certificate of that issuer.`
  return Effect.fail(failureOf("NotARoot", message))
}

/** A TLS context that trusts the certificates of the runtime and the given certificates. */
export const makeSecureContext = Effect.fnUntraced(function* (values: ReadonlyArray<string>) {
  const extra: Array<X509Certificate> = []
  for (const value of values) {
    const source = yield* load(value)
    const certificates = yield* parse(source)
    yield* checkValidity(source, certificates)
    extra.push(...certificates)
  }
  const trusted = tls.getCACertificates("default")
  yield* checkRoot(extra, trusted)
  // `ca` replaces the default certificates. The context parses the certificates once, because parsing takes
  // milliseconds per connection.
  return tls.createSecureContext({ ca: [...trusted, ...extra.map(String)] })
})
