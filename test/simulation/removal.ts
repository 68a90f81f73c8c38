/** People who delete messages: their own, and those of the bot in chats that are theirs. */
import type { MessageId } from "@colloquy/core/model/Recipient"
import type { Person } from "@colloquy/testing/emulator/Person"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Simulation } from "./simulation.ts"
import { Process } from "../../packages/testing/src/simulation/internal/world/process.ts"

const people = new Process("people")

/** A person may delete a message some time later. The bot has to handle that. */
export const mayRemove = (
  { history, strikes, world }: Simulation,
  person: Person | undefined,
  chat: string,
  mid: string | undefined
): void => {
  if (person === undefined || mid === undefined || !strikes("removed", people, mid)) return
  const removal = Effect.gen(function* () {
    yield* Effect.sleep(world.dice.int(world.dice.pick([100, 3000, 30_000])))
    yield* person.remove(mid as MessageId)
    history.add({ type: "said", chat, subject: `message_removed ${mid}` })
  })
  // The bot may have removed the message meanwhile.
  world.fork(people, Context.empty(), Effect.ignore(removal))
}
