const maxDepth = 8

/** The secret unchanged, percent-encoded, and in JSON, where a slash can be escaped. */
const spellings = (secret: string): ReadonlyArray<string> => {
  const json = JSON.stringify(secret).slice(1, -1)
  const address = secret.isWellFormed() ? encodeURIComponent(secret) : secret
  return [...new Set([secret, address, json, json.replaceAll("/", "\\/")])].filter((spelling) => spelling !== "")
}

/** Removes a secret from the texts and the causes of errors. */
export const makeRedact = (secret: string) => {
  const spelled = spellings(secret)

  const text = (value: string): string =>
    spelled.reduce((clean, spelling) => clean.replaceAll(spelling, "<redacted>"), value)

  // The errors of HTTP clients have the request with its headers, so only names, codes and messages are copied.
  const copy = (cause: unknown, depth: number): unknown => {
    if (typeof cause !== "object" || cause === null) return text(String(cause))
    const { name, code, message, cause: inner, reason } = cause as Record<string, unknown>
    const next = inner ?? reason
    const error = new Error(
      text(typeof message === "string" ? message : ""),
      next === undefined || depth === maxDepth ? undefined : { cause: copy(next, depth + 1) }
    )
    if (typeof name === "string") error.name = text(name)
    return Object.assign(error, typeof code === "string" ? { code: text(code) } : undefined)
  }

  return { text, cause: (cause: unknown) => copy(cause, 0) }
}
