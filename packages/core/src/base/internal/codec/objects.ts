import { isObject } from "effect/Predicate"
import * as SchemaAST from "effect/SchemaAST"
import { isAccepted, type Leaf, leafOf, noLeaf } from "./leaves.ts"
import { type Compile, mismatch, type Mode, type Parse } from "./parse.ts"

type Value = Record<string, unknown>

interface Property {
  readonly name: string
  /** The inputs that the property accepts without a call, if the property is a leaf. */
  readonly leaf: Leaf
  readonly parse: Parse
  /** Whether its values, or parts of them, are transformed. Then the object is copied from the start, which is faster. */
  readonly isTransformed: boolean
  readonly isRequired: boolean
}

interface Fields {
  readonly properties: ReadonlyArray<Property>
  readonly byName: ReadonlyMap<string, Property>
  readonly required: number
  /** The values of keys that are no properties. */
  readonly rest: ReadonlyArray<Parse>
}

/** Reads the properties in the order of the schema, own or inherited. */
const parseProperties =
  ({ byName, properties, rest }: Fields, { refusesUnknownKeys }: Mode): Parse =>
  (input) => {
    if (!isObject(input)) return mismatch
    const output: Value = {}
    for (const { isRequired, name, parse } of properties) {
      const value = input[name]
      if (value === undefined && !(name in input)) {
        if (isRequired) return mismatch
        continue
      }
      const parsed = parse(value)
      if (parsed === mismatch) return mismatch
      output[name] = parsed
    }
    if (rest.length === 0 && !refusesUnknownKeys) return output
    const keys = Object.keys(input)
    if (rest.length === 0) {
      return keys.every((key) => byName.has(key)) && Object.getOwnPropertySymbols(input).length === 0
        ? output
        : mismatch
    }
    for (const key of keys) {
      if (key === "__proto__") return mismatch
      for (const parse of rest) {
        const parsed = parse(input[key])
        if (parsed === mismatch) return mismatch
        if (!byName.has(key)) output[key] = parsed
      }
    }
    return output
  }

/** Copies the properties that come before a key. */
const copyBefore = (input: Value, end: string): Value => {
  const output: Value = {}
  for (const key in input) {
    if (key === end) return output
    output[key] = input[key]
  }
  return output
}

/**
 * Reads the keys that an object has, which is faster than to look up the keys of the schema. The object is its own
 * output if all keys are known and its schema transforms nothing. The benchmark `decode-over-json-parse` shows the
 * difference.
 */
const parseJsonObject = ({ byName, properties, required }: Fields, parseOther: Parse): Parse => {
  const start: Place = { property: undefined, next: undefined }
  const places = new Map([...byName].map(([name, property]): [string, Place] => [name, { property, next: undefined }]))
  const isCopied = properties.some(({ isTransformed }) => isTransformed)
  return (input) => {
    if (typeof input !== "object" || input === null) return mismatch
    // The prototype of an object has the same answer, but takes longer to get.
    if (input.constructor !== Object) return parseOther(input)
    let missing = required
    let output: Value | undefined = isCopied ? {} : undefined
    let place = start
    for (const key in input) {
      // Objects of one kind have their keys in the same order, so the next key is known.
      let next = place.next
      if (next === undefined || next.property!.name !== key) {
        next = places.get(key)
        if (next === undefined) {
          output ??= copyBefore(input as Value, key)
          continue
        }
        place.next = next
      }
      place = next
      const { isRequired, leaf, parse } = place.property!
      const value = (input as Value)[key]
      const parsed = leaf !== noLeaf && isAccepted(leaf, value) ? value : parse(value)
      if (parsed === mismatch) return mismatch
      if (parsed !== value) output ??= copyBefore(input as Value, key)
      if (output !== undefined) output[key] = parsed
      if (isRequired) missing--
    }
    return missing === 0 ? (output ?? input) : mismatch
  }
}

/** A property, and the next property of the last object. */
interface Place {
  readonly property: Property | undefined
  next: Place | undefined
}

/** Whether a missing key stays missing. A transformation can give the key a value. */
const staysMissing = (ast: SchemaAST.AST): boolean =>
  ast._tag !== "Suspend" &&
  (ast.encoding ?? []).every(
    ({ to, transformation }) =>
      transformation._tag === "Transformation" &&
      (transformation.decode._tag === "Passthrough" || transformation.decode._tag === "Transform") &&
      staysMissing(to)
  )

/** Whether the values of a schema are never or seldom their own output. */
const isTransformed = (ast: SchemaAST.AST): boolean => {
  if (ast.encoding !== undefined) return true
  if (ast._tag === "Union") return ast.types.some(isTransformed)
  return ast._tag === "Objects" && ast.propertySignatures.some(({ type }) => isTransformed(type))
}

/** Compiles an object. Returns `undefined` for an object with keys that are no strings. */
export const compileObject = (ast: SchemaAST.Objects, mode: Mode, compile: Compile): Parse | undefined => {
  const { indexSignatures, propertySignatures } = ast
  if (propertySignatures.length === 0 && indexSignatures.length === 0) return undefined
  if (indexSignatures.some(({ parameter }) => parameter !== SchemaAST.string)) return undefined
  if (propertySignatures.some(({ name }) => typeof name !== "string" || name === "__proto__")) return undefined
  const properties = propertySignatures.map(({ name, type }): Property => {
    // A missing key that may get a value is a mismatch too.
    const leaf = leafOf(type)
    return {
      name: name as string,
      leaf,
      parse: compile(type),
      isTransformed: isTransformed(type),
      isRequired: !SchemaAST.isOptional(type) || !staysMissing(type)
    }
  })
  const fields: Fields = {
    properties,
    byName: new Map(properties.map((property) => [property.name, property])),
    required: properties.filter(({ isRequired }) => isRequired).length,
    rest: indexSignatures.map(({ type }) => compile(type))
  }
  const parse = parseProperties(fields, mode)
  // Every object has the keys of its prototype.
  const hasInherited = properties.some(({ name }) => name in Object.prototype)
  return mode.isJson && fields.rest.length === 0 && !hasInherited ? parseJsonObject(fields, parse) : parse
}
