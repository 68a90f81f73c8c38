import type { Statement } from "@colloquy/core/inbox/InboxStore"

/** Statements with more parameters cost less in a transaction of their own. */
const maxParameters = 100

/** The client rounds other times. Unix milliseconds, also before 1970. */
const maxTime = 2 ** 42

/** A text as a literal, also for a connection that reads backslashes as escapes. */
const quote = (text: string): string =>
  text.includes("\\") ? ` E'${text.replace(/['\\]/g, "$&$&")}'` : `'${text.replaceAll("'", "''")}'`

const typeOf = (number: number): string =>
  !Number.isSafeInteger(number) ? "float8" : number === (number | 0) ? "int4" : "int8"

/** A parameter as a literal of the type that the client would give to the parameter. `undefined` if the type is another. */
const literalOf = (value: unknown): string | undefined => {
  if (value === null || value === undefined) return "NULL"
  switch (typeof value) {
    case "boolean":
      return `${value}`
    case "bigint":
      return `'${value}'::int8`
    case "number":
      return `'${value}'::${typeOf(value)}`
    case "string":
      return value.includes("\0") ? undefined : quote(value.toWellFormed())
  }
  if (value instanceof Date && Math.abs(value.getTime()) < maxTime) return `'${value.toISOString()}'::timestamptz`
  return undefined
}

/** A text between placeholders, which are the indexes of parameters. */
type Parts = ReadonlyArray<string | number>

/**
 * Something that may only look like a placeholder: texts with escapes, comments, quotes by dollar signs, and a placeholder directly
 * before or behind a name or a quoted text, which together with a literal would be one literal.
 */
const doubtful = /\\|--|\/\*|\$\D|[\w$&]\$|['"]\s*\$\d|\$\d+(\s*['"]|[a-z_])|\0/i

/** A placeholder behind a name, which may be that of a type: with a literal, `DATE $1` would be valid. */
const afterName =
  /(?<=\w)(?<!\b(?:select|returning|where|and|or|not|like|ilike|between|when|then|else|limit|offset|by))\s+\$\d/i

/**
 * Returns the parts of a text, or `undefined` if a literal could mean something else than a parameter. A quotation mark that is
 * not closed would let the value of a parameter end the text that it is in. A placeholder that occurs twice has one type.
 */
const parse = (sql: string): Parts | undefined => {
  if (doubtful.test(sql) || afterName.test(sql)) return undefined
  const parts = sql.split(/('[^']*'|"[^"]*"|\$\d+)/)
  if (parts.some((part, index) => index % 2 === 0 && /['"]/.test(part))) return undefined
  const placeholders = parts.filter((part) => part.startsWith("$"))
  if (new Set(placeholders).size < placeholders.length) return undefined
  return parts.map((part) => (part.startsWith("$") ? Number(part.slice(1)) - 1 : part))
}

/** Most statements of a bot follow a statement with the same text. */
let last: { readonly sql: string; readonly parts: Parts | undefined } = { sql: "", parts: [] }

/** The text of a statement with literals instead of parameters, or `undefined` if the statement needs parameters. */
export const inlined = ({ params, sql }: Statement): string | undefined => {
  if (params.length > maxParameters) return undefined
  if (last.sql !== sql) last = { sql, parts: parse(sql) }
  if (last.parts?.filter((part) => typeof part === "number").length !== params.length) return undefined
  let text = ""
  for (const part of last.parts) {
    // With the protocol of PostgreSQL, a placeholder without a parameter is an error.
    if (typeof part === "number" && !(part in params)) return undefined
    const literal = typeof part === "string" ? part : literalOf(params[part])
    if (literal === undefined) return undefined
    text += literal
  }
  return text
}
