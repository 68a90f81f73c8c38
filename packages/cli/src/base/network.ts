const codes: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name has no address. Check the name and its DNS records.",
  EAI_AGAIN: "the DNS server does not answer. Check the network of this machine.",
  ECONNREFUSED: "nothing listens on the port. Start the program, or check the address and the firewall.",
  ECONNRESET: "the connection was closed. Check the proxy and the firewall between.",
  EHOSTUNREACH: "there is no route to the host. Check the network and the firewall.",
  ENETUNREACH: "there is no route to the network. Check the network of this machine.",
  ETIMEDOUT: "there was no answer in time. Check the address, the network and the firewall.",
  CERT_HAS_EXPIRED: "the certificate has expired. Renew it.",
  CERT_NOT_YET_VALID: "the certificate is not valid yet. Check the clock, or install another certificate.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed. Install one of a trusted authority.",
  SELF_SIGNED_CERT_IN_CHAIN:
    "the chain ends in an authority that is not trusted. Install a certificate of a trusted authority.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "the chain is incomplete, or its authority is not trusted. Serve the full chain of a certificate of a trusted authority.",
  UNABLE_TO_GET_ISSUER_CERT: "the chain is incomplete. Serve the certificate with its intermediate certificates.",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "the chain is incomplete, or its authority is not trusted. Serve the full chain of a certificate of a trusted authority.",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host name. Install one for this name.",
  EPROTO: "the server does not speak TLS as expected. Check that the port serves HTTPS."
}

export const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : ""

/** Explains a code of a network or TLS error, with the remedy. */
export const explainCode = (code: string): string => codes[code] ?? `the connection failed with ${code}.`

export const explainNetwork = (error: unknown): string =>
  codes[codeOf(error)] ??
  (error instanceof Error && error.message !== "" ? `${error.message}.` : "the connection failed.")
