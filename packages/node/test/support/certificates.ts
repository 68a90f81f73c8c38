import "reflect-metadata"
import * as x509 from "@peculiar/x509"
import * as Effect from "effect/Effect"
import type { webcrypto } from "node:crypto"

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }

const day = 24 * 60 * 60 * 1000

export interface Authority {
  readonly pem: string
  readonly certificate: x509.X509Certificate
  readonly keys: webcrypto.CryptoKeyPair
}

export interface Leaf {
  readonly pem: string
  readonly key: string
}

export interface Validity {
  readonly from?: Date
  readonly to?: Date
}

const validity = (options?: Validity) => ({
  notBefore: options?.from ?? new Date(Date.now() - day),
  notAfter: options?.to ?? new Date(Date.now() + 30 * day)
})

export const expired: Validity = { from: new Date(Date.now() - 3 * day), to: new Date(Date.now() - day) }

const makeKeys = Effect.promise(() => crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]))

const pemKey = (key: webcrypto.CryptoKey) =>
  Effect.map(
    Effect.promise(() => crypto.subtle.exportKey("pkcs8", key)),
    (der) => x509.PemConverter.encode(der, "PRIVATE KEY")
  )

const authorityExtensions = [
  new x509.BasicConstraintsExtension(true, undefined, true),
  new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true)
]

export const makeRoot = Effect.fnUntraced(function* (name: string, options?: Validity) {
  const keys = yield* makeKeys
  const certificate = yield* Effect.promise(() =>
    x509.X509CertificateGenerator.createSelfSigned({
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      extensions: authorityExtensions,
      ...validity(options)
    })
  )
  return { pem: certificate.toString("pem"), certificate, keys } satisfies Authority
})

export const makeIntermediate = Effect.fnUntraced(function* (name: string, issuer: Authority, options?: Validity) {
  const keys = yield* makeKeys
  const certificate = yield* Effect.promise(() =>
    x509.X509CertificateGenerator.create({
      subject: `CN=${name}`,
      issuer: issuer.certificate.subject,
      publicKey: keys.publicKey,
      signingKey: issuer.keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: authorityExtensions,
      ...validity(options)
    })
  )
  return { pem: certificate.toString("pem"), certificate, keys } satisfies Authority
})

export const makeLeaf = Effect.fnUntraced(function* (
  issuer: Authority,
  names: ReadonlyArray<x509.JsonGeneralName> = [
    { type: "dns", value: "localhost" },
    { type: "ip", value: "127.0.0.1" }
  ],
  options?: Validity
) {
  const keys = yield* makeKeys
  const certificate = yield* Effect.promise(() =>
    x509.X509CertificateGenerator.create({
      subject: "CN=leaf",
      issuer: issuer.certificate.subject,
      publicKey: keys.publicKey,
      signingKey: issuer.keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([...names])
      ],
      ...validity(options)
    })
  )
  return { pem: certificate.toString("pem"), key: yield* pemKey(keys.privateKey) } satisfies Leaf
})

export const makeSelfSigned = Effect.fnUntraced(function* () {
  const keys = yield* makeKeys
  const certificate = yield* Effect.promise(() =>
    x509.X509CertificateGenerator.createSelfSigned({
      name: "CN=alone",
      keys,
      signingAlgorithm: algorithm,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: "dns", value: "localhost" }])],
      ...validity()
    })
  )
  return { pem: certificate.toString("pem"), key: yield* pemKey(keys.privateKey) } satisfies Leaf
})
