import * as Effect from "effect/Effect"
import { X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import * as tls from "node:tls"
import { TrustError } from "./trustError.ts"

interface Source {
  readonly setting: string
  readonly path?: string
  readonly name: string
}

const begin = /^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/
const block = /^-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/
const label = /-----BEGIN ([A-Z0-9 ]+)-----/

const fail = (source: Source, problem: TrustError["problem"], message: string) =>
  new TrustError({
    setting: source.setting,
    problem,
    message: `${source.setting}: ${message}`,
    ...(source.path === undefined ? undefined : { path: source.path })
  })

const oneLine = (name: string) => name.split("\n").join(", ")

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown reason"

// A key or certificate pasted without its PEM frame would pass for a path, so it is never repeated in a message.
const looksLikeKeyMaterial = (value: string) => /[\r\n\0]/.test(value) || /^[A-Za-z0-9+/=\s]{64,}$/.test(value)

const load = Effect.fnUntraced(function* (setting: string, value: string) {
  if (value.includes("-----BEGIN")) {
    // Settings files often keep a PEM on one line, with its line ends written as \n.
    return { source: { setting, name: "the PEM text" } as Source, text: value.replaceAll("\\n", "\n") }
  }
  if (looksLikeKeyMaterial(value)) {
    const source: Source = { setting, name: "the value" }
    return yield* fail(
      source,
      "NoCertificate",
      `the value (${value.length} characters) is neither PEM text nor a path. PEM text starts with "-----BEGIN CERTIFICATE-----".`
    )
  }
  const source: Source = { setting, path: value, name: value }
  const text = yield* Effect.tryPromise({
    try: () => readFile(value, "latin1"),
    catch: (cause) =>
      fail(
        source,
        "Unreadable",
        `cannot read ${value} (${codeOf(cause)}). Give the path of a PEM file that this process may read, or the PEM text itself.`
      )
  })
  return { source, text }
})

const parse = Effect.fnUntraced(function* (source: Source, text: string) {
  const pieces = text.split(/(?=-----BEGIN )/).filter((piece) => begin.test(piece))
  if (pieces.length === 0) {
    const found = label.exec(text)
    return yield* fail(
      source,
      "NoCertificate",
      `${source.name} holds no certificate${found === null ? "" : ` but a ${found[1]}`}. ` +
        `A PEM certificate starts with "-----BEGIN CERTIFICATE-----"; a DER file is converted with ` +
        `"openssl x509 -inform der -in FILE -out root.pem".`
    )
  }
  return yield* Effect.forEach(pieces, (piece, index) =>
    Effect.try({
      try: () => new X509Certificate(block.exec(piece)?.[0] ?? ""),
      catch: () =>
        fail(
          source,
          "Malformed",
          `certificate ${index + 1} of ${pieces.length} in ${source.name} is cut short or damaged. Get the PEM file again.`
        )
    })
  )
})

const check = Effect.fnUntraced(function* (source: Source, certificates: ReadonlyArray<X509Certificate>) {
  // TLS judges by the clock of the system, whatever the program's own clock says.
  const now = yield* Effect.sync(() => performance.timeOrigin + performance.now())
  for (const certificate of certificates) {
    if (certificate.validToDate.getTime() <= now) {
      return yield* fail(
        source,
        "Expired",
        `the certificate "${oneLine(certificate.subject)}" in ${source.name} expired at ` +
          `${certificate.validToDate.toISOString()}. Replace it with the one in force.`
      )
    }
  }
})

const isSelfIssued = (certificate: X509Certificate) => certificate.subject === certificate.issuer

const checkAnchored = (setting: string, certificates: ReadonlyArray<X509Certificate>, usual: ReadonlyArray<string>) => {
  if (certificates.some(isSelfIssued)) return Effect.void
  const known = new Set(usual.map((pem) => new X509Certificate(pem).subject))
  if (certificates.some((certificate) => known.has(certificate.issuer))) return Effect.void
  const [first] = certificates
  return fail(
    { setting, name: setting },
    "NotARoot",
    `it holds no root: "${oneLine(first.subject)}" was issued by "${oneLine(first.issuer)}", which is not trusted here. ` +
      `Give the certificate of that issuer.`
  )
}

/** The usual roots of this runtime and the given ones, as one TLS context. */
export const makeSecureContext = Effect.fnUntraced(function* (setting: string, values: ReadonlyArray<string>) {
  const extra: Array<X509Certificate> = []
  for (const value of values) {
    const { source, text } = yield* load(setting, value)
    const certificates = yield* parse(source, text)
    yield* check(source, certificates)
    extra.push(...certificates)
  }
  const usual = tls.getCACertificates("default")
  yield* checkAnchored(setting, extra, usual)
  // `ca` replaces the usual roots. Built once: parsing all of them takes milliseconds on every connection otherwise.
  return tls.createSecureContext({ ca: [...usual, ...extra.map(String)] })
})
