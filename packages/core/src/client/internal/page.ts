import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { decodeJson } from "../../base/internal/codec/run.ts"
import * as FieldIssue from "../../base/FieldIssue.ts"
import * as malformed from "../../base/internal/malformed.ts"
import { runSliced, type Sliced } from "./pausing.ts"
import { memberOf } from "../../base/internal/wire.ts"

/** A list of a response, whose elements are decoded one by one. */
interface List {
  readonly key: string
  readonly decode: malformed.Decode<unknown>
  readonly repair: malformed.Repair | undefined
}

export interface Decoder {
  readonly decode: malformed.Decode<unknown>
  readonly repair: malformed.Repair | undefined
  readonly lists: ReadonlyArray<List>
}

const isPerson = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Objects" &&
  ["user_id", "first_name", "is_bot"].every((key) => ast.propertySignatures.some(({ name }) => name === key))

const repairOf = (ast: SchemaAST.AST): malformed.Repair | undefined =>
  isPerson(ast) ? malformed.repairPerson : undefined

/** The schema of the elements of a list that can be null. */
const elementOf = (ast: SchemaAST.AST): SchemaAST.AST | undefined => {
  if (ast._tag === "Union") return ast.types.map(elementOf).find((element) => element !== undefined)
  return ast._tag === "Arrays" && ast.elements.length === 0 ? ast.rest[0] : undefined
}

const listsOf = (ast: SchemaAST.AST): ReadonlyArray<List> => {
  if (ast.encoding?.length === 1) return ast._tag === "Any" ? listsOf(ast.encoding[0].to) : []
  if (ast._tag !== "Objects") return []
  return ast.propertySignatures.flatMap(({ name, type }) => {
    const element = elementOf(type)
    if (typeof name !== "string" || element === undefined) return []
    const decode = decodeJson(Schema.make<Schema.Codec<unknown>>(element))
    return [{ key: name, decode, repair: repairOf(element) }]
  })
}

/** Creates the decoder of a response. */
export const makeDecoder = (schema: Schema.Codec<unknown, unknown>): Decoder => ({
  decode: decodeJson(schema),
  repair: repairOf(schema.ast),
  lists: listsOf(schema.ast)
})

const inside = (element: string, field: string): string =>
  field === "" || field.startsWith("[") ? element + field : `${element}.${field}`

/** The elements of a list, or `undefined` for another value. A list of one string can be an integer, see `json.ts`. */
const elementsOf = (json: unknown, key: string): ReadonlyArray<unknown> | undefined => {
  const list = memberOf(key, json)
  return Array.isArray(list) && !(list.length === 1 && typeof list[0] === "string") ? list : undefined
}

type Decoded = Result.Result<unknown, ReadonlyArray<FieldIssue.FieldIssue>>

/**
 * Decodes a response. An element of a list that cannot be decoded is left out and added to `parts`. The event loop is served
 * between elements.
 */
export const decodeResponse = (
  decoder: Decoder,
  json: unknown,
  parts: Array<malformed.MalformedPart>
): Effect.Effect<Decoded> =>
  decoder.lists.length === 0
    ? Effect.succeed(malformed.decode(decoder.decode, json, parts, decoder.repair))
    : Effect.orDie(runSliced(() => decodePage(decoder, json, parts)))

function* decodePage(
  { decode, lists, repair }: Decoder,
  json: unknown,
  parts: Array<malformed.MalformedPart>
): Sliced<Decoded> {
  const decodedLists: Record<string, ReadonlyArray<unknown>> = {}
  const rest: Record<string, unknown> = {}
  for (const list of lists) {
    const elements = elementsOf(json, list.key)
    if (elements === undefined) continue
    const decoded: Array<unknown> = []
    for (const [index, element] of elements.entries()) {
      const name = `${list.key}[${index}]`
      const found: Array<malformed.MalformedPart> = []
      const result = malformed.decode(list.decode, element, found, list.repair)
      if (Result.isSuccess(result)) {
        decoded.push(result.success)
        for (const part of found) parts.push({ ...part, field: inside(name, part.field) })
      } else {
        parts.push({ field: name, problem: FieldIssue.format(result.failure), raw: element })
      }
      yield
    }
    decodedLists[list.key] = decoded
    rest[list.key] = []
  }
  if (Object.keys(rest).length === 0) return malformed.decode(decode, json, parts, repair)
  const decoded = malformed.decode(decode, { ...(json as object), ...rest }, parts, repair)
  // Of an `envelope`, the list is the value.
  return Result.map(decoded, (value) =>
    Array.isArray(value) ? Object.values(decodedLists)[0] : { ...(value as object), ...decodedLists }
  )
}
