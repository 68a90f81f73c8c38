import { Conversation, Inbox } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import { act, botOf, type Code, make, mutations, original, waits } from "../../support/conversationChanges.ts"
import { during, layer, left, nothing, writes } from "../../support/conversations.ts"

/** A conversation that has not ended after this many actions of its user is stuck. */
const maxActions = 40

/** Deploys other code while the original waits at a place, and goes on until the conversation has ended. */
const play = Effect.fnUntraced(function* (code: Code, place: string) {
  const person = yield* Emulator.user("Ann")
  const { chat_id } = yield* person.start()
  const status = Conversation.status(make(original), { chat_id, user_id: person.user_id }).pipe(
    Effect.provide(Inbox.layer())
  )
  const reach = Effect.gen(function* () {
    yield* writes(person, "/order")
    for (let action = 0; ; action++) {
      const { waitingFor } = Option.getOrThrow(yield* status)
      if (waitingFor === place) return
      yield* waitingFor === "rest" ? TestClock.adjust("20 minutes") : act(person, action)
    }
  })
  const finish = Effect.gen(function* () {
    for (let action = 0; action < maxActions && Option.isSome(yield* status); action++) {
      // A user waits now and then.
      yield* action % 4 === 3 ? TestClock.adjust("25 minutes") : act(person, action)
    }
  })
  yield* during(botOf(original), reach)
  yield* TestClock.adjust("1 minute")
  yield* during(botOf(code), finish)
  assert.deepStrictEqual(yield* left("order"), nothing, place)
  assert.strictEqual((yield* InboxStore.InboxStore.use(({ stats }) => stats)).queued, 0, place)
})

describe("a conversation whose code is changed while it waits", () => {
  it.effect.each(Object.entries(mutations))("ends and leaves no dead letter, wherever it waits: %s", ([, code]) =>
    Effect.forEach(waits, (place) => Effect.provide(Effect.scoped(play(code, place)), Layer.fresh(layer)))
  )
})
