import * as Result from "effect/Result"

/** A percent-encoded text; nothing where it is malformed. */
export const decodePercent = (text: string): string | undefined =>
  Result.getOrUndefined(Result.try(() => decodeURIComponent(text)))
