import type * as Endpoint from "@colloquy/core/client/Endpoint"
import * as Json from "@colloquy/core/base/Json"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { UserId } from "@colloquy/core/model/User"
import * as declarations from "../control/declarations.ts"
import type { SeenView } from "../control/views.ts"
import { call, make, type Answer, type Emulated, type Tool } from "./tool.ts"

const defaultTimeout = 5000

const maxTimeout = 60_000

interface Reader {
  readonly lock: Semaphore.Semaphore
  position: number
}

/** Typing and similar actions are not replies. */
const isReply = ({ type }: SeenView): boolean => type !== "action"

/**
 * Creates the tool that waits for replies. The tool remembers the position of each person, so that each event is
 * returned once.
 */
export const makeWaiting = (): Tool => {
  const readers = new Map<number, Reader>()

  const readerOf = (user_id: number): Reader => {
    const reader = readers.get(user_id) ?? { lock: Semaphore.makeUnsafe(1), position: 0 }
    readers.set(user_id, reader)
    return reader
  }

  const read = Effect.fnUntraced(function* (
    user_id: number,
    reader: Reader,
    count: number,
    timeout: number,
    emulated: Emulated
  ) {
    const deadline = (yield* Clock.currentTimeMillis) + timeout
    const seen: Array<SeenView> = []
    let from = reader.position
    while (true) {
      const wait_ms = Math.max(0, deadline - (yield* Clock.currentTimeMillis))
      const answer: Answer = yield* call(declarations.listSeen, { user_id, from, wait_ms }, emulated)
      if (answer.status !== 200) return answer
      const page = Json.parse(answer.body) as Endpoint.Success<typeof declarations.listSeen>
      seen.push(...page.seen)
      from = page.next
      const isTimeout = seen.filter(isReply).length < count
      if (isTimeout && wait_ms > 0) continue
      // The position moves last, so that an interrupted call loses nothing.
      reader.position = from
      return { ...answer, body: Json.stringify({ seen, timed_out: isTimeout }) }
    }
  })

  return make("wait_for_reply", "Wait for replies of bots", {
    description:
      "Waits in real time until a person has seen count replies of bots, and returns everything they saw since the previous wait_for_reply, each event once: messages, edits, removed messages, comments, notifications of pressed buttons, notices and typing. timed_out is true if fewer replies came in time: then read_requests shows what the bot did. To check that a bot stays silent, use a short timeout_ms.",
    endpoints: [declarations.listSeen],
    schema: {
      user_id: UserId,
      count: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))),
      timeout_ms: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxTimeout })))
    },
    fields: {
      count: "Number of replies to wait for. Typing does not count. Default: 1",
      timeout_ms: `How long to wait, in milliseconds. Default: ${defaultTimeout}`
    },
    run: ({ count = 1, timeout_ms = defaultTimeout, user_id }, emulated) => {
      const reader = readerOf(user_id)
      return reader.lock.withPermit(read(user_id, reader, count, timeout_ms, emulated))
    }
  })
}
