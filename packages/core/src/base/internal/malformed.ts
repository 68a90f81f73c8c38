import * as Result from "effect/Result"
import type { Issue } from "effect/SchemaIssue"
import type { ParseOptions } from "effect/SchemaAST"
import * as FieldIssue from "../FieldIssue.ts"
import { fieldOf, leaves, type Leaf } from "./issues.ts"
import { copy, restore, restoreText } from "./json.ts"
import { limitOf, Unparsed } from "./nesting.ts"
import { MalformedElement } from "./wire.ts"

/** A part that could not be decoded, with its JSON. */
export interface MalformedPart extends FieldIssue.FieldIssue {
  readonly raw: unknown
}

export type Decode<A> = (json: unknown, options?: ParseOptions) => Result.Result<A, Issue>

type Path = ReadonlyArray<PropertyKey>
type Node = Record<PropertyKey, unknown>

/** Returns the value to decode in place of a value with a malformed field, or `undefined` if the field is required. */
export type Repair = (value: Node, field: PropertyKey | undefined) => Node | undefined

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

const at = (json: unknown, path: Path): unknown => path.reduce((value, key) => (value as Node | undefined)?.[key], json)

/** The value of a part of JSON, or its text if the part has a part that was not parsed. */
export const rawOf = (json: unknown): unknown => Result.getOrElse(restore(json), () => restoreText(json))

const isList = (key: PropertyKey): boolean => key === "attachments" || key === "markup"

const isUser = (key: PropertyKey): boolean => /^(user|sender|max_info|dialog_with_user)$/.test(String(key))

/** Returns a person without a field that cannot be decoded. A person without an id cannot be used. */
export const repairPerson: Repair = (person, field) => {
  if (field === undefined || field === "user_id") return undefined
  const { [field]: _, ...rest } = person
  if (field === "is_bot") return { ...rest, is_bot: false }
  // Older payloads have only `name`.
  return field === "first_name"
    ? { ...rest, first_name: typeof person["name"] === "string" ? person["name"] : "" }
    : rest
}

/** Returns the value to decode in place of the part at the end of a path, or `undefined` if the part is required. */
const replacementOf = (value: unknown, raw: unknown, path: Path, field: PropertyKey | undefined): unknown => {
  const [key, parent, list] = path.toReversed()
  if (isList(key)) return [new MalformedElement(rawOf(raw))]
  if (typeof key === "number" && (isList(parent) || list === "buttons")) return new MalformedElement(rawOf(raw))
  if (/^(link|stat|icon|pinned_message)$/.test(String(key)) || (key === "message" && parent === "link")) return null
  return isUser(key) && isNode(value) ? repairPerson(value, field) : undefined
}

/** The members that identify an update or a message. Other members are left out if they cannot be decoded. */
const isEssential = (key: PropertyKey): boolean =>
  typeof key !== "string" ||
  /^(update_type|chat_id|callback|message|body|recipient|sender|user|text|payload)$/.test(key)

/** A value that is being repaired. */
interface Draft {
  readonly original: unknown
  value: unknown
  readonly repairRoot: Repair | undefined
  /** The members that were left out, by their paths. */
  readonly leftOut: Map<string, string>
}

const partOf = ({ original }: Draft, path: Path, length: number, problem: string): MalformedPart => ({
  field: fieldOf(path.slice(0, length)),
  problem: FieldIssue.format([{ field: fieldOf(path.slice(length)), problem }]),
  raw: rawOf(at(original, path.slice(0, length)))
})

/** Replaces the innermost part around an issue that is not required, or leaves out the member with the issue. */
const repair = (draft: Draft, { path, problem }: Leaf): MalformedPart | undefined => {
  for (let end = path.length; end > 0; end--) {
    const part = path.slice(0, end)
    const container = at(draft.value, part.slice(0, -1))
    const value = at(draft.value, part)
    // An earlier issue of the same part, or of a part around it, was repaired.
    if (!isNode(container) || value instanceof MalformedElement) return undefined
    const replacement = replacementOf(value, at(draft.original, part), part, path[end])
    if (replacement === undefined) continue
    container[path[end - 1]] = replacement
    return partOf(draft, path, end, problem)
  }
  const repaired = isNode(draft.value) ? draft.repairRoot?.(draft.value, path[0]) : undefined
  if (repaired !== undefined) {
    draft.value = repaired
    return partOf(draft, path, Math.min(1, path.length), problem)
  }
  const key = path.at(-1) ?? ""
  const container = at(draft.value, path.slice(0, -1))
  if (isEssential(key) || !isNode(container) || Array.isArray(container) || !(key in container)) return undefined
  delete container[key]
  draft.leftOut.set(fieldOf(path), problem)
  return partOf(draft, path, path.length, problem)
}

const maxDescribed = 20

/** Describes malformed parts for a log. */
export const describe = (parts: ReadonlyArray<MalformedPart>): string => {
  const more = parts.length > maxDescribed ? `; and ${parts.length - maxDescribed} more` : ""
  return `Malformed parts were decoded as unknown or left out: ${FieldIssue.format(parts.slice(0, maxDescribed))}${more}`
}

/** A repaired part can show that the part around it is malformed too. */
const maxRounds = 8

/** A value with more values is not repaired, because each issue takes about 20 us, and the event loop waits. */
const maxRepairedValues = 4096

/** Counts the values inside a value, up to a limit. */
const countValues = (value: unknown, limit: number): number => {
  if (!isNode(value)) return 1
  let count = 1
  for (const key in value) {
    count += countValues(value[key], limit - count)
    if (count > limit) return count
  }
  return count
}

/**
 * Decodes a value. Parts that can be missing or unknown, such as an attachment, do not fail the whole value. Such parts
 * are decoded as unknown or left out, and added to `parts`. A value without malformed parts costs nothing more. A
 * failure has the issues of the parts that are required.
 */
export const decode = <A>(
  decode: Decode<A>,
  json: unknown,
  parts: Array<MalformedPart>,
  repairRoot?: Repair
): Result.Result<A, ReadonlyArray<FieldIssue.FieldIssue>> => {
  const decoded = decode(json)
  if (Result.isSuccess(decoded)) return decoded as Result.Result<A, never>
  const limit = limitOf(json)
  if (limit !== undefined) return Result.fail([{ field: "", problem: new Unparsed(limit).problem }])
  let issues = leaves(decoded.failure)
  const draft: Draft = { original: json, value: json, repairRoot, leftOut: new Map() }
  if (countValues(json, maxRepairedValues) <= maxRepairedValues) {
    draft.value = copy(json)
    for (let round = 0; round < maxRounds; round++) {
      const repaired = decode(draft.value, { errors: "all" })
      if (Result.isSuccess(repaired)) return repaired as Result.Result<A, never>
      issues = leaves(repaired.failure)
      const found = issues.flatMap((issue) => repair(draft, issue) ?? [])
      parts.push(...found)
      if (found.length === 0) break
    }
  }
  return Result.fail(
    issues.map(({ path, problem }) => {
      const field = fieldOf(path)
      return { field, problem: draft.leftOut.get(field) ?? problem }
    })
  )
}
