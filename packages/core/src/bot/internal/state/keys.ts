import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as FieldIssue from "../../../base/FieldIssue.ts"
import { sortKeys } from "../../../base/internal/json.ts"
import { segment, textOfSegment } from "../../../inbox/internal/store/keys.ts"
import { orderPrefixOf } from "../../../inbox/internal/store/stateRows.ts"
import type { InvalidState } from "../../State.ts"

/** Longest key of a row of a store. */
const maxRowKey = 1000

/** The longest part of the key of a row that is not from the key of the value: the name of the state, and its order. */
const lengthBeside = (name: string): number => orderPrefixOf(name).length + "0123456789abcdef/".length

const prefix = "key:"

/** The scopes of the values of a state whose keys have a schema: `key:` and the JSON text of the key. */
export const make = <K>(
  name: string,
  schema: Schema.Codec<K, unknown>,
  invalid: (problem: string, key: unknown) => InvalidState
) => {
  const codec = Schema.toCodecJson(schema)
  const encode = Schema.encodeUnknownResult(codec)
  const decode = Schema.decodeUnknownOption(codec)
  const maxLength = maxRowKey - lengthBeside(name)

  const toScope = (key: unknown): Effect.Effect<string, InvalidState> => {
    const encoded = encode(key)
    if (Result.isFailure(encoded)) return Effect.fail(invalid(FieldIssue.formatSchemaIssue(encoded.failure.issue), key))
    const scope = `${prefix}${segment(JSON.stringify(sortKeys(encoded.success)))}`
    return scope.length > maxLength
      ? Effect.fail(invalid(`Its text has ${scope.length} characters, and the maximum is ${maxLength}.`, key))
      : Effect.succeed(scope)
  }

  /** Returns the key of a scope, or `undefined` if the schema of the keys does not match. */
  const fromScope = (scope: string): K | undefined =>
    scope.startsWith(prefix)
      ? Result.try((): unknown => JSON.parse(textOfSegment(scope.slice(prefix.length)))).pipe(
          Result.getSuccess,
          Option.flatMap(decode),
          Option.getOrUndefined
        )
      : undefined

  return { toScope, fromScope }
}
