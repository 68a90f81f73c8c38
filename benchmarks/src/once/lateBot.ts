/**
 * Handles timers, and reports how late: `lateBot.ts STORE NAME CHATS`. When its parent asks for it, it sets timers that are
 * due at random times of a period.
 */
import { Bot, type Inbox } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as places from "../inbox/places.ts"
import { layerBot } from "../inbox/traffic.ts"
import { endWithParent, onParentMessage, tellParent } from "../processes.ts"
import { Ring } from "./kept.ts"

export interface Task {
  readonly count: number
  /** In milliseconds. */
  readonly within: number
}

export type Report =
  | { readonly is: "ready" }
  /** All timers are set, and the first of them is due after this time in milliseconds. */
  | { readonly is: "set"; readonly before: number }
  | { readonly is: "handled"; readonly index: number; readonly late: number }

const chats = 60

/** From the first request until the first timer is due, in milliseconds: all of them are set by then. */
const headStart = 8000

const place = places.fromArguments(process.argv.slice(2))

const report = (message: Report) => Effect.sync(() => tellParent(message))

const set = ({ count, within }: Task) =>
  Effect.gen(function* () {
    const first = (yield* Clock.currentTimeMillis) + headStart
    yield* Effect.forEach(
      Array.from({ length: count }),
      (_, index) =>
        Ring.for({ chat_id: ChatId.make(1 + (index % chats)) }).at(first + Math.random() * within, index, {
          key: String(index)
        }),
      { concurrency: 100, discard: true }
    )
    yield* report({ is: "set", before: first - (yield* Clock.currentTimeMillis) })
  })

endWithParent()

await Effect.runPromise(
  Effect.gen(function* () {
    const services = yield* Effect.context<Inbox.Inbox>()
    onParentMessage<Task>((task) => void Effect.runForkWith(services)(Effect.orDie(set(task))))
    yield* report({ is: "ready" })
    yield* Bot.run(
      Ring.on((index, { timestamp }) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => report({ is: "handled", index, late: now - timestamp }))
      )
    )
  }).pipe(Effect.provide(layerBot(place)))
)
