/** Takes a secret out of everything that leaves the client as an error. */
export interface Redact {
  readonly text: (text: string) => string
  readonly cause: (cause: unknown) => unknown
}

const maxDepth = 8

export const redacting = (secret: string): Redact => {
  const text = (value: string): string => (secret === "" ? value : value.replaceAll(secret, "<redacted>"))

  // HTTP clients keep the request, and so the header with the secret, in their errors: only names, codes and texts pass.
  const copy = (cause: unknown, depth: number): unknown => {
    if (typeof cause !== "object" || cause === null) return text(String(cause))
    const { name, code, message, cause: inner, reason } = cause as Record<string, unknown>
    const next = inner ?? reason
    const error = new Error(
      text(typeof message === "string" ? message : ""),
      next === undefined || depth === maxDepth ? undefined : { cause: copy(next, depth + 1) }
    )
    if (typeof name === "string") error.name = name
    return Object.assign(error, typeof code === "string" ? { code } : undefined)
  }

  return { text, cause: (cause) => copy(cause, 0) }
}
