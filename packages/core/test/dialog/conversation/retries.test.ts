import { Conversation } from "@colloquy/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { deadLetters, layer, play } from "../../support/conversations.ts"

const of = { of: "userInChat" } as const

describe("Effect.retry in a conversation", () => {
  it.effect("repeats only operations without a result, if one of several operations fails", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const run = (name: string) => Effect.sync(() => ran.push(name))
      let failures = 2
      const said = yield* play(
        Conversation.make(
          "order",
          of,
          Effect.fn(function* (talk) {
            const address = Conversation.make("address", of, (talk) => talk.step("look up", Schema.Int, run("look up")))
            const all = Effect.gen(function* () {
              const name = yield* talk.ask("name", { say: "Name?" })
              yield* talk.run("address", address)
              yield* talk.say(`Hello, ${name}`, { name: "hello" })
              yield* talk.step("reserve", Schema.Int, run("reserve"))
              yield* talk.step(
                "pay",
                Schema.Int,
                Effect.suspend(() => (failures-- > 0 ? Effect.fail("away") : run("pay")))
              )
            })
            yield* Effect.retry(all, { times: 2 })
            yield* talk.ask("more", { say: "Anything else?" })
            yield* talk.say("Thank you.")
          })
        ),
        "Ann",
        "No"
      )
      assert.deepStrictEqual(yield* deadLetters, [])
      assert.deepStrictEqual(ran, ["look up", "reserve", "pay"])
      assert.deepStrictEqual(said, ["Name?", "Hello, Ann", "Anything else?", "Thank you."])
    }).pipe(Effect.provide(layer))
  )

  it.effect("does not hide that a name is used twice after it", () =>
    Effect.gen(function* () {
      let failures = 1
      yield* play(
        Conversation.make(
          "order",
          of,
          Effect.fn(function* (talk) {
            const flaky = Effect.suspend(() => (failures-- > 0 ? Effect.fail("away") : Effect.void))
            yield* Effect.retry(talk.step("pay", Schema.Void, flaky), { times: 1 })
            yield* talk.step("pay", Schema.Void, Effect.void)
          })
        )
      )
      assert.include((yield* deadLetters)[0], 'The conversation "order" uses the name "pay" twice.')
    }).pipe(Effect.provide(layer))
  )
})
