import type { StateKey, StateStore, StoredState } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"

interface Read extends Request.Request<StoredState | undefined, StoreError> {
  readonly key: StateKey
}

const Read = Request.of<Read>()

/**
 * Reads the single values that are requested in one turn of the event loop by one query. Concurrent handlers read one
 * value each, and a query costs many times more than a value (benchmarks/src/conversations/cpu.ts).
 */
export const batchReads = (get: StateStore["get"]): StateStore["get"] => {
  const resolver = RequestResolver.make<Read>((entries) =>
    Effect.matchCause(get(entries.map(({ request }) => request.key)), {
      onSuccess: (values) => entries.forEach((entry, index) => entry.completeUnsafe(Exit.succeed(values[index]))),
      onFailure: (cause) => entries.forEach((entry) => entry.completeUnsafe(Exit.failCause(cause)))
    })
  )
  return (keys) =>
    keys.length === 1 ? Effect.map(Effect.request(Read({ key: keys[0]! }), resolver), (value) => [value]) : get(keys)
}
