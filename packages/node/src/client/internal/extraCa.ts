import * as Effect from "effect/Effect"
import { X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import * as tls from "node:tls"
import type { ExtraCaError } from "../NodeBotHttpClient.ts"

/** The fields of an `ExtraCaError`. */
type Failure = Pick<ExtraCaError, "problem" | "path" | "message">

interface Source {
  readonly path?: string
  readonly name: string
}

const begin = /^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/
const block = /^-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/
const label = /-----BEGIN ([A-Z0-9 ]+)-----/

const fail = ({ path }: Source, problem: Failure["problem"], message: string): Effect.Effect<never, Failure> =>
  Effect.fail({
    problem,
    message: `extraCa (BOT_EXTRA_CA): ${message}`,
    ...(path === undefined ? undefined : { path })
  })

const oneLine = (name: string) => name.split("\n").join(", ")

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown reason"

// A key or certificate without its PEM frame would pass for a path, and a message must not repeat it.
const looksLikeKeyMaterial = (value: string) => /[\r\n\0]/.test(value) || /^[A-Za-z0-9+/=\s]{64,}$/.test(value)

const load = Effect.fnUntraced(function* (value: string) {
  if (value.includes("-----BEGIN")) {
    // Settings files often have a PEM text on one line, with its line ends written as \n.
    return { source: { name: "the PEM text" } as Source, text: value.replaceAll("\\n", "\n") }
  }
  if (looksLikeKeyMaterial(value)) {
    return yield* fail(
      { name: "the value" },
      "NoCertificate",
      `the value (${value.length} characters) is neither PEM text nor a path. PEM text starts with "-----BEGIN CERTIFICATE-----".`
    )
  }
  const source: Source = { path: value, name: value }
  const text = yield* Effect.tryPromise({ try: () => readFile(value, "latin1"), catch: codeOf }).pipe(
    Effect.catch((code) =>
      fail(
        source,
        "Unreadable",
        `cannot read ${value} (${code}). Give the path of a PEM file that this process may read, or the PEM text itself.`
      )
    )
  )
  return { source, text }
})

const parse = Effect.fnUntraced(function* (source: Source, text: string) {
  const pieces = text.split(/(?=-----BEGIN )/).filter((piece) => begin.test(piece))
  if (pieces.length === 0) {
    const found = label.exec(text)
    return yield* fail(
      source,
      "NoCertificate",
      `${source.name} has no certificate${found === null ? "" : ` but a ${found[1]}`}. ` +
        `A PEM certificate starts with "-----BEGIN CERTIFICATE-----". Convert a DER file with ` +
        `"openssl x509 -inform der -in FILE -out root.pem".`
    )
  }
  return yield* Effect.forEach(pieces, (piece, index) =>
    Effect.try({ try: () => new X509Certificate(block.exec(piece)?.[0] ?? ""), catch: () => "malformed" }).pipe(
      Effect.catch(() =>
        fail(
          source,
          "Malformed",
          `certificate ${index + 1} of ${pieces.length} in ${source.name} is incomplete or damaged. Get the PEM file again.`
        )
      )
    )
  )
})

const checkValidity = Effect.fnUntraced(function* (source: Source, certificates: ReadonlyArray<X509Certificate>) {
  // TLS uses the clock of the system, so the clock of the program does not count.
  const now = yield* Effect.sync(() => performance.timeOrigin + performance.now())
  for (const certificate of certificates) {
    if (certificate.validToDate.getTime() <= now) {
      return yield* fail(
        source,
        "Expired",
        `the certificate "${oneLine(certificate.subject)}" in ${source.name} expired at ` +
          `${certificate.validToDate.toISOString()}. Replace it with the current one.`
      )
    }
  }
})

const isSelfIssued = (certificate: X509Certificate) => certificate.subject === certificate.issuer

const checkRoot = (certificates: ReadonlyArray<X509Certificate>, trusted: ReadonlyArray<string>) => {
  if (certificates.some(isSelfIssued)) return Effect.void
  const known = new Set(trusted.map((pem) => new X509Certificate(pem).subject))
  if (certificates.some((certificate) => known.has(certificate.issuer))) return Effect.void
  const [first] = certificates
  return fail(
    { name: "extraCa" },
    "NotARoot",
    `there is no root certificate: "${oneLine(first.subject)}" was issued by "${oneLine(first.issuer)}", which is not ` +
      `trusted. Give the certificate of that issuer.`
  )
}

/** A TLS context that trusts the certificates of the runtime and the given certificates. */
export const makeSecureContext = Effect.fnUntraced(function* (values: ReadonlyArray<string>) {
  const extra: Array<X509Certificate> = []
  for (const value of values) {
    const { source, text } = yield* load(value)
    const certificates = yield* parse(source, text)
    yield* checkValidity(source, certificates)
    extra.push(...certificates)
  }
  const trusted = tls.getCACertificates("default")
  yield* checkRoot(extra, trusted)
  // `ca` replaces the default certificates. The context parses the certificates once, because parsing takes
  // milliseconds per connection.
  return tls.createSecureContext({ ca: [...trusted, ...extra.map(String)] })
})
