import { type BotApi, Conversation, Inbox } from "@colloquy/core"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { deadLetters, layer, play } from "../../support/conversations.ts"

/** A fiber with this limit yields after each of its operations. */
const opsOfStep = 3

/** Begins an effect, and interrupts it after a number of its steps. */
const interruptedAfter = <A, E, R>(steps: number, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.provideService(effect, Scheduler.MaxOpsBeforeYield, opsOfStep), {
      startImmediately: true
    })
    for (let step = 0; step < steps; step++) yield* Effect.yieldNow
    yield* Fiber.interrupt(fiber)
  })

/** Plays a conversation that begins with an operation, for each number of steps. */
const goesOnAfterEachStep = (
  operation: (talk: Conversation.Talk<never>, steps: number) => Effect.Effect<unknown, unknown, BotApi.BotApi>
) =>
  Effect.gen(function* () {
    for (let steps = 0; steps <= 40; steps++) {
      const conversation = Conversation.make(
        "order",
        { of: "userInChat" },
        Effect.fn(function* (talk) {
          yield* operation(talk as Conversation.Talk<never>, steps)
          yield* talk.ask("name", { say: "Name?" })
          yield* talk.say("Thank you.")
        })
      )
      const { errors, said } = yield* Effect.provide(
        Effect.all({ said: play(conversation, "Ann"), errors: deadLetters }),
        layer
      )
      assert.deepStrictEqual(errors, [], `${steps} steps`)
      assert.include(said, "Name?", `${steps} steps`)
      assert.strictEqual(said.at(-1), "Thank you.", `${steps} steps`)
    }
  })

describe("a conversation", () => {
  it.effect("waits for an answer after a message was interrupted at any of its steps", () =>
    goesOnAfterEachStep((talk, steps) => interruptedAfter(steps, talk.say("Hello.")))
  )

  it.effect("runs a step under its name after the step was interrupted at any of its steps", () => {
    let last = -1
    return goesOnAfterEachStep((talk, steps) => {
      const pay = (effect: Effect.Effect<number>) => talk.step("pay", Schema.Int, effect)
      const isFirst = steps > last
      last = steps
      return isFirst
        ? Effect.andThen(interruptedAfter(steps, pay(Effect.never)), pay(Effect.succeed(7)))
        : pay(Effect.succeed(7))
    })
  })

  it.effect("stores its results before a step, also after another step was interrupted at any of its steps", () =>
    Effect.gen(function* () {
      for (let steps = 0; steps <= 40; steps++) {
        const conversation = Conversation.make(
          "order",
          { of: "userInChat" },
          Effect.fn(function* (talk) {
            yield* talk.ask("name", { say: "Name?" })
            yield* interruptedAfter(steps, talk.step("look up", Schema.Void, Effect.never))
            yield* talk.step("pay", Schema.Void, Effect.die("no money"))
          })
        )
        const running = Effect.provide(Stream.runCollect(Conversation.stream(conversation)), Inbox.layer())
        const [, all] = yield* Effect.provide(Effect.all([play(conversation, "Ann"), running]), layer)
        assert.deepStrictEqual(
          all.map(({ status }) => status.results),
          [["name"]],
          `${steps} steps`
        )
      }
    })
  )
})
