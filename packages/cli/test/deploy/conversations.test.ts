import { Bot, Conversation, Inbox, type StoreError } from "@colloquy/core"
import type { Prediction } from "@colloquy/core/inbox/Rehearsal"
import { Emulator, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import {
  act,
  botOf,
  type Code,
  make,
  mutations,
  original,
  stepsRun,
  waits
} from "../../../core/test/support/conversationChanges.ts"
import { during, layer, presses, texts, writes } from "../../../core/test/support/conversations.ts"
import { predictions } from "../../src/deploy/parked.ts"
import { layerDry } from "../../src/deploy/world.ts"

/** What the check says about each conversation, by the scope of the conversation. */
const predict = Effect.fnUntraced(function* (code: Code) {
  const { store } = yield* Inbox.Inbox
  const program = { bot: Bot.make(botOf(code)), states: [] }
  const now = yield* Clock.currentTimeMillis
  const all = yield* Stream.runCollect(predictions(program, now)).pipe(Effect.provide(Layer.fresh(layerDry(store))))
  return new Map(all.map((predicted) => [predicted.at, predicted]))
})

/** A message that answers no question of any version. */
const contact = { type: "contact", name: "Bob" } as const

/** Sends an update that answers no question, or that presses a removed button, and tells what has happened. */
const observe = Effect.fnUntraced(function* (
  person: Person.Person,
  status: Effect.Effect<Option.Option<Conversation.Status>, StoreError.StoreError, Inbox.Inbox>,
  { detail = "" }: Prediction
) {
  const before = yield* texts(person)
  stepsRun.length = 0
  yield* detail.includes("button") ? presses(person, "Small") : writes(person, "", { attachments: [contact] })
  const after = yield* status
  return {
    said: (yield* texts(person)).slice(before.length),
    steps: [...stepsRun],
    waitingFor: Option.getOrUndefined(Option.map(after, ({ waitingFor }) => waitingFor)),
    results: Option.getOrUndefined(Option.map(after, ({ results }) => results))
  }
})

const outdated = "Something has changed here. Please begin again."

/** Requires that the prediction is what has happened. */
const compare = (
  place: string,
  { detail, outcome }: Prediction,
  { results, said, steps, waitingFor }: Effect.Success<ReturnType<typeof observe>>
): void => {
  const at = `${place}: ${outcome} ${detail}: ${JSON.stringify({ said, steps, waitingFor })}`
  const [name] = (detail ?? "").split(" ")
  switch (outcome) {
    case "continues":
      return assert.deepStrictEqual([said, steps, waitingFor], [[], [], place], at)
    case "asks":
      assert.deepStrictEqual([waitingFor, steps], [name, []], at)
      return assert.isAbove(said.length, 0, at)
    case "sleeps":
      return assert.deepStrictEqual([waitingFor, steps], [name, []], at)
    case "runs":
      return assert.deepStrictEqual(steps, [name], at)
    case "ends":
      assert.deepStrictEqual([waitingFor, results, steps], [undefined, undefined, []], at)
      return assert.notInclude(said, outdated, at)
    case "restarts":
      return assert.deepStrictEqual([said, waitingFor, results], [["Welcome.", "What is your name?"], "name", []], at)
    case "outdated":
      return assert.deepStrictEqual([said, waitingFor, results], [[outdated], undefined, undefined], at)
    default:
      return assert.fail(at)
  }
}

/** Goes on with the original until a conversation waits at a place. */
const waitAt = Effect.fnUntraced(function* (place: string) {
  const person = yield* Emulator.user("Ann")
  const { chat_id } = yield* person.start()
  const status = Conversation.status(make(original), { chat_id, user_id: person.user_id })
  yield* writes(person, "/order")
  for (let action = 0; ; action++) {
    const { waitingFor } = Option.getOrThrow(yield* status)
    if (waitingFor === place) return { person, place, scope: `chat:${chat_id}/user:${person.user_id}`, status }
    yield* waitingFor === "rest" ? TestClock.adjust("20 minutes") : act(person, action)
  }
})

/** Lets the original wait at each place, predicts what other code does then, and deploys this code. */
const play = Effect.fnUntraced(function* (code: Code) {
  // The conversation that sleeps comes last, because the way to the place behind takes longer than the sleep.
  const places = [...waits.filter((place) => place !== "rest"), "rest"]
  const waiting = yield* during(botOf(original), Effect.forEach(places, waitAt))
  const statuses = Effect.forEach(waiting, ({ status }) => status)
  const before = yield* statuses
  stepsRun.length = 0
  const predicted = yield* predict(code)
  assert.deepStrictEqual([yield* statuses, stepsRun], [before, []], "the check changes nothing and runs no step")
  const observeAll = Effect.forEach(waiting, ({ person, place, scope, status }) => {
    const prediction = predicted.get(scope)!
    return Effect.map(observe(person, status, prediction), (observed) => compare(place, prediction, observed))
  })
  yield* during(botOf(code), observeAll)
})

describe("check-deploy and a conversation whose code is changed while the conversation waits", () => {
  it.effect.each(Object.entries(mutations))("predicts what happens, wherever the conversation waits: %s", ([, code]) =>
    Effect.provide(play(code), Layer.fresh(Layer.provideMerge(Inbox.layer(), layer)))
  )
})
