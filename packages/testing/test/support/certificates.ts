import "reflect-metadata"
import * as x509 from "@peculiar/x509"
import * as Effect from "effect/Effect"
import type { webcrypto } from "node:crypto"

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }

const day = 24 * 60 * 60 * 1000

/** A certificate and the key to it; `pem` can be served. */
export interface Certified {
  readonly certificate: x509.X509Certificate
  readonly keys: webcrypto.CryptoKeyPair
  readonly pem: string
  readonly key: string
}

const ofAuthority = [
  new x509.BasicConstraintsExtension(true, undefined, true),
  new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true)
]

const ofHost = (host: string) => [
  new x509.BasicConstraintsExtension(false),
  new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
  new x509.SubjectAlternativeNameExtension([{ type: "dns", value: host }])
]

const certify = (
  name: string,
  extensions: Array<x509.Extension>,
  issuer?: Certified,
  age = day
): Effect.Effect<Certified> =>
  Effect.promise(async () => {
    const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${name}`,
      issuer: issuer?.certificate.subject ?? `CN=${name}`,
      publicKey: keys.publicKey,
      signingKey: (issuer?.keys ?? keys).privateKey,
      signingAlgorithm: algorithm,
      extensions,
      notBefore: new Date(Date.now() - age),
      notAfter: new Date(Date.now() - age + 2 * day)
    })
    const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY")
    return { certificate, keys, pem: certificate.toString("pem"), key }
  })

/** An authority, under another one or a root. */
export const makeAuthority = (name: string, issuer?: Certified) => certify(name, ofAuthority, issuer)

/** The certificate of a host, issued by an authority. */
export const makeLeaf = (host: string, issuer: Certified) => certify(host, ofHost(host), issuer)

/** One that ran out a day ago. */
export const makeExpired = (host: string, issuer: Certified) => certify(host, ofHost(host), issuer, 3 * day)

/** The certificate of a host, issued by itself. */
export const makeSelfSigned = (host: string) => certify(host, ofHost(host))
