import * as Result from "effect/Result"
import type { SchemaError } from "effect/Schema"
import type { ParseOptions } from "effect/SchemaAST"
import * as FieldIssue from "../../FieldIssue.ts"
import { restore } from "./json.ts"
import { MalformedElement } from "./wire.ts"

/** A part that could not be decoded, with its JSON. */
export interface MalformedPart extends FieldIssue.FieldIssue {
  readonly raw: unknown
}

export type Decode<A> = (json: unknown, options?: ParseOptions) => Result.Result<A, SchemaError>

type Path = ReadonlyArray<PropertyKey>
type Node = Record<PropertyKey, unknown>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

const at = (json: unknown, path: Path): unknown => path.reduce((value, key) => (value as Node | undefined)?.[key], json)

const isList = (key: PropertyKey): boolean => key === "attachments" || key === "markup"

const isUser = (key: PropertyKey): boolean => /^(user|sender|max_info|dialog_with_user)$/.test(String(key))

/** Returns a user without a field that cannot be decoded. A user without an id cannot be used. */
const withoutField = (user: Node, field: PropertyKey | undefined): unknown => {
  if (field === undefined || field === "user_id") return undefined
  const { [field]: _, ...rest } = user
  if (field === "is_bot") return { ...rest, is_bot: false }
  // Older payloads have only `name`.
  return field === "first_name" ? { ...rest, first_name: typeof user["name"] === "string" ? user["name"] : "" } : rest
}

/** Returns what to decode in place of the part at the end of a path, or `undefined` if the part is required. */
const replacementOf = (value: unknown, path: Path, field: PropertyKey | undefined): unknown => {
  const [key, parent, list] = path.toReversed()
  if (isList(key)) return [new MalformedElement(value)]
  if (typeof key === "number" && (isList(parent) || list === "buttons")) return new MalformedElement(value)
  if (/^(link|stat|icon|pinned_message)$/.test(String(key)) || (key === "message" && parent === "link")) return null
  return isUser(key) && isNode(value) ? withoutField(value, field) : undefined
}

/** Replaces the innermost part around an issue that is not required. */
const repair = (original: unknown, draft: unknown, { path, problem }: FieldIssue.Leaf): MalformedPart | undefined => {
  for (let end = path.length; end > 0; end--) {
    const part = path.slice(0, end)
    const container = at(draft, part.slice(0, -1))
    const value = at(draft, part)
    // Another issue was in the same part, or around it, and was repaired before.
    if (!isNode(container) || value instanceof MalformedElement) return undefined
    const replacement = replacementOf(value, part, path[end])
    if (replacement === undefined) continue
    container[path[end - 1]] = replacement
    return {
      field: FieldIssue.fieldOf(part),
      problem: FieldIssue.format([{ field: FieldIssue.fieldOf(path.slice(end)), problem }]),
      raw: at(original, part)
    }
  }
  return undefined
}

/** Describes malformed parts for a log. */
export const describe = (parts: ReadonlyArray<MalformedPart>): string =>
  `Malformed parts were decoded as unknown or left out: ${FieldIssue.format(parts)}`

/** A repaired part can show that the part around it is malformed too. */
const maxRounds = 8

/**
 * Decodes a value. Parts that can be missing or unknown, such as an attachment, do not fail the whole value: they are
 * decoded as unknown or left out, and added to `parts`. A value without malformed parts costs nothing more.
 */
export const decode = <A>(
  decode: Decode<A>,
  json: unknown,
  parts: Array<MalformedPart>
): Result.Result<A, SchemaError> => {
  const decoded = decode(json)
  if (Result.isSuccess(decoded)) return decoded
  const original = Result.getOrUndefined(restore(json))
  const draft = Result.getOrUndefined(restore(json))
  for (let round = 0; round < maxRounds; round++) {
    const repaired = decode(draft, { errors: "all" })
    if (Result.isSuccess(repaired)) return repaired
    const { length } = parts
    for (const leaf of FieldIssue.leaves(repaired.failure.issue)) {
      const part = repair(original, draft, leaf)
      if (part !== undefined) parts.push(part)
    }
    if (parts.length === length) break
  }
  return decoded
}
