import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { restoreText } from "../../base/internal/json.ts"
import * as malformed from "../../base/internal/malformed.ts"
import type { MalformedPart, MalformedUpdate, Update } from "../Update.ts"

/** The malformed parts of the updates that have some. */
export const partsOf = new WeakMap<Update, ReadonlyArray<MalformedPart>>()

/** The field whose absence is a malformed part: see {@link datedAt}. */
export const missingTime = "timestamp"

/** Adds a warning about the malformed parts of an update. */
export const withMalformedWarning = <A, E, R>(
  update: Update,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  const parts = partsOf.get(update)
  return parts === undefined ? effect : Effect.andThen(Effect.logWarning(malformed.describe(parts)), effect)
}

const received = new WeakMap<Update, unknown>()

/** Keeps the JSON of a decoded update, with the members that this version does not know. */
export const withJson = (
  decoded: Result.Result<Update, MalformedUpdate>,
  json: unknown
): Result.Result<Update, MalformedUpdate> => {
  if (Result.isSuccess(decoded)) received.set(decoded.success, json)
  return decoded
}

/** The JSON text of an update that {@link withJson} has kept. */
export const receivedText = (update: Update): string | undefined => {
  const json = received.get(update)
  return json === undefined ? undefined : restoreText(json)
}

/** Returns the update, with the time of its receipt if it was sent without a time. */
export const datedAt = (
  decoded: Result.Success<Update, MalformedUpdate>,
  receivedAt: number
): Result.Success<Update, MalformedUpdate> => {
  const update = decoded.success
  if (partsOf.get(update)?.some(({ field }) => field === missingTime) !== true) return decoded
  const dated = { ...update, timestamp: receivedAt } as Update
  partsOf.set(dated, partsOf.get(update)!)
  if (received.has(update)) received.set(dated, received.get(update))
  return Result.succeed(dated) as Result.Success<Update, MalformedUpdate>
}
