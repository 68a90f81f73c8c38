import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as FieldIssue from "../../../base/FieldIssue.ts"
import type { StateValue } from "../../../inbox/internal/store/stateRows.ts"
import type { InvalidState, Migration, Options, StaleState } from "../../State.ts"

const formatCause = (cause: unknown): string => {
  if (Schema.isSchemaError(cause)) return FieldIssue.formatSchemaIssue(cause.issue)
  return cause instanceof Error ? cause.message : String(cause)
}

type Read<A> = (raw: unknown) => Effect.Effect<A, string>

const readBy = <A>(schema: Schema.Decoder<A>): Read<A> => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema))
  return (raw) => Effect.mapError(decode(raw), formatCause)
}

const toRead = <A>(migration: Migration<A>): Read<A> =>
  Schema.isSchema(migration)
    ? readBy(migration)
    : (raw) => Effect.try({ try: () => migration(raw as Schema.Json), catch: formatCause })

/** Returns the version of a stored value and the value. The version is 0 if the text was written by other programs. */
const parse = (text: string): { readonly version: number; readonly raw: unknown } => {
  const parsed = Result.getOrElse(
    Result.try((): unknown => JSON.parse(text)),
    () => text
  )
  if (!Array.isArray(parsed) || parsed.length !== 2) return { version: 0, raw: parsed }
  const [head, raw] = parsed as [unknown, unknown]
  const version: unknown = Array.isArray(head) ? head[0] : head
  return typeof version === "number" ? { version, raw } : { version: 0, raw: parsed }
}

/** Reads and writes the values of a state. */
export interface StateCodec<A> {
  /** Decodes a stored value. A value that expired counts as absent. */
  readonly decode: (stored: StateValue | undefined, scope: string) => Effect.Effect<A, StaleState>
  /**
   * The same, but a value that cannot be read, and that no newer program wrote, is replaced by the initial one if the state has
   * that policy.
   */
  readonly read: (stored: StateValue | undefined, scope: string) => Effect.Effect<A, StaleState>
  readonly encode: (value: A) => Effect.Effect<StateValue, InvalidState>
  readonly isExpired: (stored: StateValue) => Effect.Effect<boolean>
  /** Whether the values are stored with the number by which they are sorted. */
  readonly isSorted: boolean
}

/** The errors of a state, without its name. */
export interface Errors {
  readonly stale: (stale: Omit<ConstructorParameters<typeof StaleState>[0], "stateName">) => StaleState
  readonly invalid: (problem: string, value: unknown) => InvalidState
}

export const make = <A, I>(schema: Schema.Codec<A, I>, options: Options<A>, errors: Errors): StateCodec<A> => {
  const { initial, migrate = {}, onStale = "fail", sortBy, version = 1 } = options
  const timeToLive = options.expireAfter === undefined ? undefined : Duration.toMillis(options.expireAfter)
  const readers = new Map(Object.entries(migrate).map(([from, migration]) => [Number(from), toRead(migration)]))
  readers.set(version, readBy(schema))
  const encode = Schema.encodeEffect(Schema.toCodecJson(schema))

  const isExpired = ({ expiresAt }: StateValue) =>
    expiresAt === undefined ? Effect.succeed(false) : Effect.map(Clock.currentTimeMillis, (now) => expiresAt <= now)

  const readStored = ({ text }: StateValue, scope: string): Effect.Effect<A, StaleState> => {
    const { raw, version: from } = parse(text)
    const isNewer = from > version
    const read = readers.get(from)
    const decoded =
      read?.(raw) ??
      Effect.fail(
        isNewer
          ? `It was written by a newer program, in version ${from}. This one has version ${version}.`
          : `There is no migration of version ${from}.`
      )
    return Effect.mapError(decoded, (problem) =>
      errors.stale({ scope, version: from, problem, raw, ...(isNewer && { isNewer }) })
    )
  }

  const decode = (stored: StateValue | undefined, scope: string): Effect.Effect<A, StaleState> =>
    stored === undefined
      ? Effect.sync(initial)
      : Effect.flatMap(isExpired(stored), (expired) => (expired ? Effect.sync(initial) : readStored(stored, scope)))

  /** The version of a text, and the number by which the value is sorted. */
  const headOf = (value: A): Effect.Effect<unknown, InvalidState> => {
    if (sortBy === undefined) return Effect.succeed(version)
    const order = sortBy(value)
    return Number.isFinite(order)
      ? Effect.succeed([version, order])
      : Effect.fail(errors.invalid(`\`sortBy\` returned ${order}, which is not a finite number.`, value))
  }

  return {
    decode,
    isExpired,
    isSorted: sortBy !== undefined,
    read:
      onStale === "fail"
        ? decode
        : (stored, scope) =>
            Effect.catch(decode(stored, scope), (stale) =>
              stale.isNewer === true
                ? Effect.fail(stale)
                : Effect.as(Effect.logWarning(`${stale.message} The initial value replaces it.`), initial())
            ),
    encode: (value) =>
      Effect.flatMap(
        Effect.mapError(encode(value), ({ issue }) => errors.invalid(FieldIssue.formatSchemaIssue(issue), value)),
        (encoded) =>
          Effect.flatMap(headOf(value), (head) =>
            Effect.map(Clock.currentTimeMillis, (now) => ({
              text: JSON.stringify([head, encoded]),
              expiresAt: timeToLive === undefined ? undefined : now + timeToLive
            }))
          )
      )
  }
}
