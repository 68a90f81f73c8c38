import "reflect-metadata"
import * as x509 from "@peculiar/x509"
import * as Effect from "effect/Effect"

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }

const day = 24 * 60 * 60 * 1000

/** A certificate and its key pair. `pem` and `key` are the files that a server needs. */
export interface Issued {
  readonly certificate: x509.X509Certificate
  readonly keys: CryptoKeyPair
  readonly pem: string
  readonly key: string
}

const authorityExtensions = [
  new x509.BasicConstraintsExtension(true, undefined, true),
  new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true)
]

const hostExtensions = (host: string) => [
  new x509.BasicConstraintsExtension(false),
  new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
  new x509.SubjectAlternativeNameExtension([{ type: "dns", value: host }])
]

const issue = (name: string, extensions: Array<x509.Extension>, issuer?: Issued, age = day): Effect.Effect<Issued> =>
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

/** Creates a root authority, or an intermediate one that `issuer` has signed. */
export const makeAuthority = (name: string, issuer?: Issued) => issue(name, authorityExtensions, issuer)

/** Creates the certificate of a host. */
export const makeHost = (host: string, issuer: Issued) => issue(host, hostExtensions(host), issuer)

/** Creates a certificate of a host that expired a day ago. */
export const makeExpired = (host: string, issuer: Issued) => issue(host, hostExtensions(host), issuer, 3 * day)

/** Creates a self-signed certificate of a host. */
export const makeSelfSigned = (host: string) => issue(host, hostExtensions(host))
