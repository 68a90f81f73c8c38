/** A broadcast that several processes run, one at a time. */
import * as Broadcasts from "@colloquy/core/broadcast/Broadcasts"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Bot from "@colloquy/core/bot/Bot"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { sentIn } from "../../auditor/messages.ts"
import type { Recording, Violation } from "../../auditor/recording.ts"
import type { Simulation } from "../../simulation.ts"
import type { Dice } from "../../../../packages/testing/src/simulation/internal/world/dice.ts"
import { say } from "../people.ts"
import type { Host, Program } from "../program.ts"

export interface BroadcastsPlan {
  readonly recipients: number
  readonly concurrency: number
}

const plan = (dice: Dice): BroadcastsPlan => ({
  recipients: 1 + dice.int(60),
  concurrency: dice.pick([1, 4, 16])
})

const smaller = (plan: BroadcastsPlan): ReadonlyArray<BroadcastsPlan> =>
  plan.recipients > 1
    ? [
        { ...plan, recipients: Math.ceil(plan.recipients / 2) },
        { ...plan, recipients: plan.recipients - 1 }
      ]
    : []

const name = "news"

/** Where the people leave the list of recipients for the bot. */
const recipientsOf = ({ shared }: Simulation): ReadonlyArray<ChatId> | undefined =>
  shared.get("recipients") as ReadonlyArray<ChatId> | undefined

const bot = ({ concurrency }: BroadcastsPlan, host: Host) => {
  const broadcast = Effect.gen(function* () {
    while (recipientsOf(host) === undefined) yield* Effect.sleep(1000)
    const recipients = Stream.fromIterable(recipientsOf(host) ?? [])
    const message = (chat_id: ChatId) => ({ text: `news for ${chat_id}` })
    yield* Stream.runDrain(Broadcasts.run({ name, recipients, message, concurrency }))
    host.history.add({ type: "noted", process: host.process.name, what: "finished", subject: name, value: "" })
  }).pipe(Effect.retry(Schedule.spaced("3 seconds")))
  const updates = Bot.run(() => Effect.void, host.runOptions)
  return Effect.all([broadcast, updates], { concurrency: 2, discard: true })
}

const people = ({ recipients }: BroadcastsPlan, simulation: Simulation) =>
  Effect.gen(function* () {
    const persons = yield* Effect.forEach(Array.from({ length: recipients }), (_, index) =>
      Emulator.user(`Person ${index}`)
    )
    const dialogs = yield* Effect.forEach(persons, (person) => person.start())
    simulation.shared.set(
      "recipients",
      dialogs.map(({ chat_id }) => chat_id)
    )
    yield* say(simulation, persons[0], "hello")
    const isFinished = Effect.sync(() =>
      simulation.history.events.some((event) => event.type === "noted" && event.what === "finished")
    )
    yield* Effect.repeat(isFinished, { schedule: Schedule.spaced("10 seconds"), until: (is) => is })
    // Other processes find that nothing is left to send.
    yield* Effect.sleep("10 minutes")
  })

const audit = ({ recipients }: BroadcastsPlan, recording: Recording): ReadonlyArray<Violation> => {
  const { ending, events } = recording
  const violations: Array<Violation> = []
  const violate = (rule: string, detail: string) => void violations.push({ rule, detail })
  const sent = new Map<string, number>()
  for (const { chat } of sentIn(events)) sent.set(chat, (sent.get(chat) ?? 0) + 1)
  const records = new Map(ending.broadcast.map(({ chat, status }) => [chat, status] as const))
  if (records.size !== recipients) violate("every recipient has a result", `${records.size} of ${recipients}`)
  for (const [chat, status] of records) {
    if (status === "Sent" && !sent.has(chat)) violate("a message that counts as sent was sent", chat)
  }
  const twice = [...sent.values()].reduce((sum, count) => sum + count - 1, 0)
  // The lease of a broadcast is counted by the clocks of the processes.
  const { disturbances, skews } = recording.plan
  const isOneClock = skews.every((skew) => skew === 0) && disturbances.every(({ kind }) => kind !== "clock")
  if (isOneClock && twice > 0) violate("nobody receives a broadcast twice", `${twice} messages too many`)
  return violations
}

export const broadcasts: Program<BroadcastsPlan> = { plan, smaller, bot, people, audit }
