import type { Statement } from "@colloquy/core/inbox/InboxStore"

/** Statements with more parameters cost less in a transaction of their own. */
const maxParameters = 100

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
  if (value instanceof Date && !Number.isNaN(value.getTime())) return `'${value.toISOString()}'::timestamptz`
  return undefined
}

/** A text between placeholders, which are the indexes of parameters. */
type Parts = ReadonlyArray<string | number>

/**
 * Returns the parts of a text, or `undefined` if something may only look like a placeholder: texts with escapes, comments, and
 * quotes by dollar signs. In all other texts, a placeholder is certainly a placeholder outside of quoted texts and names.
 */
const parse = (sql: string): Parts | undefined =>
  /\\|--|\/\*|\$\D|[\w$]\$|\0/.test(sql)
    ? undefined
    : sql.split(/('[^']*'|"[^"]*"|\$\d+)/).map((part) => (part.startsWith("$") ? Number(part.slice(1)) - 1 : part))

/** Most statements of a bot follow a statement with the same text. */
let last: { readonly sql: string; readonly parts: Parts | undefined } = { sql: "", parts: [] }

/** The text of a statement with literals instead of parameters, or `undefined` if the statement needs parameters. */
export const inlined = ({ params, sql }: Statement): string | undefined => {
  if (params.length > maxParameters) return undefined
  if (last.sql !== sql) last = { sql, parts: parse(sql) }
  if (last.parts === undefined) return undefined
  let text = ""
  for (const part of last.parts) {
    const literal = typeof part === "string" ? part : literalOf(params[part])
    if (literal === undefined) return undefined
    text += literal
  }
  return text
}
