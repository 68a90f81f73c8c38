import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as FieldIssue from "../../../base/FieldIssue.ts"
import type { StateValue } from "../../../inbox/InboxStore.ts"
import type { InvalidState, Migration, Options, StaleState } from "../../State.ts"

/** Why a stored value cannot be read. */
interface Unreadable {
  readonly problem: string
  readonly raw: unknown
}

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

const readText = <A>(text: string, read: Read<A>): Effect.Effect<A, Unreadable> => {
  const parsed = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(parsed)) return Effect.fail({ problem: "The text is not JSON.", raw: text })
  return Effect.mapError(read(parsed.success), (problem) => ({ problem, raw: parsed.success }))
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
}

/** The errors of a state, without its name. */
export interface Errors {
  readonly stale: (stale: Omit<ConstructorParameters<typeof StaleState>[0], "stateName">) => StaleState
  readonly invalid: (problem: string, value: unknown) => InvalidState
}

export const make = <A, I>(schema: Schema.Codec<A, I>, options: Options<A>, errors: Errors): StateCodec<A> => {
  const { initial, migrate = {}, onStale = "fail", version = 1 } = options
  const timeToLive = options.expireAfter === undefined ? undefined : Duration.toMillis(options.expireAfter)
  const readers = new Map(Object.entries(migrate).map(([from, migration]) => [Number(from), toRead(migration)]))
  readers.set(version, readBy(schema))
  const encode = Schema.encodeEffect(Schema.toCodecJson(schema))

  const isExpired = ({ expiresAt }: StateValue) =>
    expiresAt === undefined ? Effect.succeed(false) : Effect.map(Clock.currentTimeMillis, (now) => expiresAt <= now)

  const readStored = (stored: StateValue, scope: string): Effect.Effect<A, StaleState> => {
    const read = readers.get(stored.version)
    const decoded: Effect.Effect<A, Unreadable> =
      read !== undefined
        ? readText(stored.text, read)
        : readText(stored.text, () =>
            Effect.fail(
              stored.version > version
                ? `It was written by a newer program, in version ${stored.version}. This one has version ${version}.`
                : `There is no migration of version ${stored.version}.`
            )
          )
    return Effect.mapError(decoded, (unreadable) => {
      const isNewer = stored.version > version && { isNewer: true }
      return errors.stale({ scope, version: stored.version, ...unreadable, ...isNewer })
    })
  }

  const decode = (stored: StateValue | undefined, scope: string): Effect.Effect<A, StaleState> =>
    stored === undefined
      ? Effect.sync(initial)
      : Effect.flatMap(isExpired(stored), (expired) => (expired ? Effect.sync(initial) : readStored(stored, scope)))

  return {
    decode,
    isExpired,
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
          Effect.map(Clock.currentTimeMillis, (now) => ({
            text: JSON.stringify(encoded),
            version,
            expiresAt: timeToLive === undefined ? undefined : now + timeToLive
          }))
      )
  }
}
