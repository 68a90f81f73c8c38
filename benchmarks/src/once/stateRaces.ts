import { Inbox } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Measured } from "../figure.ts"
import * as places from "../inbox/places.ts"
import { start } from "../inbox/processes.ts"
import { fill } from "../inbox/traffic.ts"
import { InChat, Presses, run } from "./stateRacesBot.ts"

const runs: ReadonlyArray<readonly [store: places.Store, processes: number]> = [
  ["memory", 1],
  ["sqlite", 1],
  ["sqlite", 2],
  ["postgres", 1],
  ["postgres", 2],
  ["redis", 1],
  ["redis", 2]
]

const pairs = 1000

const chats = 2

const total = pairs * chats

const user_id = Fixtures.user().user_id

/** A person presses a button in two chats at once, again and again. */
const queuePresses = fill(0, total, chats)

/** How many presses are missing in the state of the person, or in that of the chats. */
const missing = Effect.gen(function* () {
  const ofUser = yield* Presses.at({ user_id }).get
  const ofChats = yield* Effect.forEach(
    Array.from({ length: chats }),
    (_, chat) => InChat.at({ chat_id: ChatId.make(1 + chat) }).get
  )
  const inChats = ofChats.reduce((sum, count) => sum + count, 0)
  return Math.max(Math.abs(total - ofUser), Math.abs(total - inChats))
})

/** How many changes were lost, and how many handlers ran again because of a conflict. */
interface Outcome {
  readonly lost: number
  readonly again: number
}

const inMemory: Effect.Effect<Outcome, unknown, Inbox.Inbox> = Effect.gen(function* () {
  yield* queuePresses
  const again = (yield* run) - total
  return { lost: yield* missing, again }
})

const inProcesses = (store: places.Store, processes: number): Promise<Outcome> =>
  places.withPlace(store, async (place) => {
    const inbox = Layer.provide(Inbox.layer(), places.layer(place))
    await Effect.runPromise(Effect.provide(queuePresses, inbox))
    const bots = Array.from({ length: processes }, () =>
      start<never, { readonly runs: number }>("../once/stateRacesBot.ts", places.toArguments(place))
    )
    const ran = await Promise.all(bots.map((bot) => bot.next(() => true)))
    await Promise.all(bots.map(({ exited }) => exited))
    const again = ran.reduce((sum, { runs }) => sum + runs, -total)
    return { lost: await Effect.runPromise(Effect.provide(missing, inbox)), again }
  })

/** How many changes of the state of a person are lost, at most. */
export const stateRaces = async (): Promise<Measured> => {
  const outcomes: Array<readonly [name: string, outcome: Outcome]> = []
  for (const [store, processes] of runs) {
    const outcome =
      store === "memory"
        ? await Effect.runPromise(Effect.provide(inMemory, Inbox.layerMemory()))
        : await inProcesses(store, processes)
    // Without a conflict there was no race.
    if (outcome.again <= 0) throw new Error(`No two presses were handled at the same time by ${store}`)
    outcomes.push([`${store} ${processes}`, outcome])
  }
  return {
    value: Math.max(...outcomes.map(([, { lost }]) => lost)),
    detail: outcomes.map(([name, { again, lost }]) => `${name}: ${lost}, ${again} ran again`).join("; ")
  }
}
