import type { InboxStore, Row } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"

interface Read extends Request.Request<Row | undefined, StoreError> {
  readonly key: string
}

const Read = Request.of<Read>()

/**
 * Reads the single rows that are requested in one turn of the event loop by one query. Concurrent handlers read one
 * row each, and a query costs many times more than a row (benchmarks/src/conversations/cpu.ts).
 */
export const batchReads = (read: InboxStore["Service"]["read"]): InboxStore["Service"]["read"] => {
  const resolver = RequestResolver.make<Read>((entries) =>
    Effect.matchCause(read(entries.map(({ request }) => request.key)), {
      onSuccess: (rows) => entries.forEach((entry, index) => entry.completeUnsafe(Exit.succeed(rows[index]))),
      onFailure: (cause) => entries.forEach((entry) => entry.completeUnsafe(Exit.failCause(cause)))
    })
  )
  return (keys) =>
    keys.length === 1 ? Effect.map(Effect.request(Read({ key: keys[0]! }), resolver), (row) => [row]) : read(keys)
}
