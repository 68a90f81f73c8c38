import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as FieldIssue from "../../../base/FieldIssue.ts"
import type { StaleScene } from "../../Scene.ts"
import { InvalidState } from "../../../bot/State.ts"
import { makeCodec, type ValueSchema } from "../../../bot/internal/handlers/namedValue.ts"

/** The stored state of a scene. */
export const Stored = Schema.NullOr(
  Schema.Struct({
    state: Schema.String,
    /** The data, encoded. Absent if the state has none. */
    data: Schema.optionalKey(Schema.Json),
    /**
     * When the state was entered, in Unix milliseconds. This time distinguishes the timer of the state from earlier
     * timers.
     */
    since: Schema.Int
  })
)

export type Stored = NonNullable<typeof Stored.Type>

/** A state with its data. */
export interface Entered {
  readonly state: string
  readonly data: unknown
  readonly since: number
}

/** Reads and writes the states of a scene. */
export const make = (
  schemas: { readonly [state: string]: ValueSchema },
  stateName: string,
  toStale: (stale: Omit<ConstructorParameters<typeof StaleScene>[0], "sceneName">) => StaleScene
) => {
  const codecs = new Map(Object.entries(schemas).map(([state, schema]) => [state, makeCodec(schema)]))
  const names = [...codecs.keys()].join(", ")
  return {
    encode: ({ data, since, state }: Entered): Effect.Effect<Stored, InvalidState> => {
      const codec = codecs.get(state)
      const invalid = (problem: string) => new InvalidState({ stateName, problem, value: data })
      if (codec === undefined)
        return Effect.fail(invalid(`The scene has no state "${state}". Its states are ${names}.`))
      if (!codec.hasValue) return Effect.succeed({ state, since })
      return Effect.mapBoth(codec.encode(data), {
        onSuccess: (data) => ({ state, since, data }),
        onFailure: ({ issue }) => invalid(`${FieldIssue.formatSchemaIssue(issue)} (state "${state}")`)
      })
    },
    decode: ({ data, since, state }: Stored): Effect.Effect<Entered, StaleScene> => {
      const codec = codecs.get(state)
      const stale = (problem: string) => toStale({ state, problem, raw: data })
      if (codec === undefined) return Effect.fail(stale("the program has no such state"))
      if (!codec.hasValue) return Effect.succeed({ state, since, data: undefined })
      if (data === undefined) return Effect.fail(stale("it was stored without data"))
      return Effect.mapBoth(codec.decode(data), {
        onSuccess: (data) => ({ state, since, data }),
        onFailure: ({ issue }) => stale(FieldIssue.formatSchemaIssue(issue))
      })
    }
  }
}
