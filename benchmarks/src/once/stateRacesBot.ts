/** A bot that counts the presses of a person until none is queued: `stateRacesBot.ts STORE NAME`. */
import { Inbox, State, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as places from "../inbox/places.ts"
import { tellParent } from "../inbox/processes.ts"
import { layerSource, untilEmpty } from "../inbox/traffic.ts"

/** The presses of a person in all chats. */
export const Presses = State.make("presses", Schema.Int, { of: "user", initial: () => 0 })

/** The presses in a chat. */
export const InChat = State.make("inChat", Schema.Int, { of: "chat", initial: () => 0 })

/** Handles what is queued. Returns how often the handler ran. */
export const run = Effect.gen(function* () {
  let runs = 0
  const press = Effect.gen(function* () {
    runs++
    yield* InChat.update((count) => count + 1)
    const count = yield* Presses.get
    yield* Effect.sleep("1 millis")
    yield* Presses.set(count + 1)
  })
  yield* Effect.provide(
    Updates.run(() => press),
    layerSource(untilEmpty)
  )
  return runs
})

if (import.meta.main) {
  const inbox = Layer.provide(Inbox.layer(), places.layer(places.fromArguments(process.argv.slice(2))))
  const runs = await Effect.runPromise(Effect.provide(run, inbox))
  tellParent({ runs })
  process.disconnect()
}
