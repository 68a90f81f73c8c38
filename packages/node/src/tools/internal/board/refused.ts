import * as Data from "effect/Data"

/** Why a request is not answered with 200. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly status: 401 | 403 | 404 | 405 | 409 | 503
  readonly message: string
}> {}
