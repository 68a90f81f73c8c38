import * as Messages from "@colloquy/core/endpoints/Messages"
import * as Handler from "@colloquy/core/inbox/Handler"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Simulation from "../../src/simulation/Simulation.ts"
import { type Expected, findMistake, options, Payments, shop } from "../support/shop.ts"

/** The histories of some seeds. */
const historiesOf = (seeds: ReadonlyArray<number | Simulation.Case>) => {
  const histories: Array<Simulation.History> = []
  const remember: Simulation.Invariant = (history) => void histories.push(history)
  return Effect.as(Simulation.run(shop(), { ...options, seeds, always: [remember] }), histories)
}

const actionsIn = ({ events }: Simulation.History) => events.filter((event) => event.type === "did")

describe("Simulation.run", () => {
  it.effect("finds nothing in a bot without mistakes", () => Simulation.run(shop(), { ...options, seeds: 2 }))

  it.effect.each<Expected>([
    ["a charge outside of a step", "atEnd", /was charged \d times/],
    ["a second press", "atEnd", /was charged \d times/],
    ["a press without an answer", "everyPressIsAnswered", /has not answered the press of Pay by \w+/],
    ["a conversation without a timeout", "noDialogIsStuck", /"rate" waits for an answer without a timeout/],
    ["a silent command", "nobodyWaits", /has waited longer than 10m for a word about "\/buy/]
  ])("finds the mistake: %s", (expected) => findMistake(...expected))

  it.effect("has the same history for the same seed, and another history for another seed", () =>
    Effect.gen(function* () {
      const [one, other, third] = yield* historiesOf([3, 3, 4])
      assert.isAbove(one.events.length, 50)
      assert.deepStrictEqual(one, other)
      assert.notDeepEqual(one.events, third.events)
    })
  )

  it.effect("leaves out people, actions and faults of a case", () =>
    Effect.gen(function* () {
      const [all, one] = yield* historiesOf([6, { seed: 6, people: [1], actions: 3, without: ["kill"] }])
      const people = (history: Simulation.History) => new Set(actionsIn(history).map(({ person }) => person))
      const isKill = (event: Simulation.History["events"][number]) =>
        event.type === "process" && event.change === "killed"
      assert.isAbove(people(all).size, 1)
      assert.deepStrictEqual([...people(one)], ["Ben"])
      assert.isTrue(all.events.some(isKill))
      assert.isFalse(one.events.some(isKill))
    })
  )

  it.effect("lets people with a purpose act, and gives a bot the layers of its author", () =>
    Effect.gen(function* () {
      const texts: Array<string> = []
      const bot = Handler.on("message_created", (update) =>
        Effect.flatMap(
          Payments.use(({ charge }) => charge("one", "one")),
          (receipt) => Messages.reply(update, `Receipt ${receipt}`)
        )
      )
      yield* Simulation.run(bot, {
        seeds: 2,
        days: 1,
        people: 0,
        faults: "none",
        layer: Layer.succeed(Payments, { charge: () => Effect.succeed(7) }),
        visitors: [
          function* (ann) {
            yield* ann.send("Please")
            const { body } = yield* ann.reply
            texts.push(body?.text ?? "")
          }
        ]
      })
      assert.include(texts, "Receipt 7")
      assert.deepStrictEqual([...new Set(texts)], ["Receipt 7"])
    })
  )

  it.effect("fails with the message of an invariant of the author", () =>
    Effect.gen(function* () {
      const nobodyBuys: Simulation.Invariant = ({ events }) =>
        events.some((event) => event.type === "did" && event.text === "/buy") ? "Somebody buys" : undefined
      const failed = yield* Effect.flip(Simulation.run(shop(), { ...options, always: [nobodyBuys] }))
      assert.strictEqual(failed.rule, "nobodyBuys")
      assert.match(failed.message, /^Somebody buys\. Rule: nobodyBuys\. Seed: \d+\.\n[^]*wrote "\/buy"\./)
    })
  )
})
