/**
 * The platform of a soak run: the emulator on a port, with people who send numbered messages to a bot, and faults. It is a
 * process of its own, and answers the commands of its parent.
 */
import { Emulator, type EmulatorEvent, EmulatorServer, type Faults } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { answer, type Replies, token } from "./protocol.ts"

/** What its parent passes to the platform, as JSON. */
export interface PlatformTask {
  /** Number of dialogs. The message with the number n is sent to the dialog n modulo `chats`. */
  readonly chats: number
  /** Messages in a second. */
  readonly rate: number
  /** Number of messages. */
  readonly total: number
  /** Share of the requests of the bot that meet a fault. */
  readonly faults: number
}

export interface PlatformCommands {
  readonly replies: Replies
  readonly memory: { readonly rss: number; readonly sent: number }
}

const task = JSON.parse(process.argv[2]) as PlatformTask

/** How often due messages are sent, in milliseconds. */
const interval = 20

const rulesOf = (share: number): ReadonlyArray<Faults.Rule> => {
  const faults: ReadonlyArray<Faults.Rule> = [
    { status: 500 },
    { status: 503 },
    { reset: "before" },
    { reset: "after" },
    { truncate: 20, reset: "after" },
    { delay: 2000 }
  ]
  return [
    ...faults.map((fault, seed) => ({ ...fault, path: "*", probability: share / faults.length, seed })),
    { update_type: "message_created", delivery: "duplicate", probability: share / faults.length, seed: 6 }
  ]
}

const run = Effect.gen(function* () {
  const people = yield* Effect.forEach(Array.from({ length: task.chats }), (_, index) =>
    Effect.gen(function* () {
      const person = yield* Emulator.user(`Ann ${index}`)
      return { person, dialog: yield* person.start() }
    })
  )
  const { url } = yield* EmulatorServer.EmulatorServer
  yield* Emulator.setFaults(rulesOf(task.faults))
  let sent = 0

  // The emulator does not keep the messages of a long run.
  const replies = new Map(people.map(({ dialog }) => [dialog.chat_id, [] as Array<string>]))
  const collect = (event: EmulatorEvent.EmulatorEvent): void => {
    if (event.type !== "message" || event.user_id !== event.bot_id) return
    replies.get(event.chat_id)?.push(event.message.body?.text ?? "")
  }
  yield* Effect.forkChild(Stream.runForEach(Emulator.events, (event) => Effect.sync(() => collect(event))))

  answer<PlatformCommands>({
    memory: () => Promise.resolve({ rss: process.memoryUsage.rss(), sent }),
    replies: () => Promise.resolve([...replies.values()])
  })
  process.send?.({ url })

  const startedAt = performance.now()
  const sendDue = Effect.gen(function* () {
    const due = Math.min(task.total, Math.floor(((performance.now() - startedAt) / 1000) * task.rate))
    for (; sent < due; sent++) {
      const { dialog, person } = people[sent % people.length]
      yield* person.send(dialog, String(sent))
    }
  })
  yield* Effect.repeat(Effect.delay(sendDue, interval), { until: () => sent === task.total })
  return yield* Effect.never
})

const platform = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token, limits: {} })))

process.on("disconnect", () => process.exit())
await Effect.runPromise(Effect.scoped(Effect.provide(run, platform)))
