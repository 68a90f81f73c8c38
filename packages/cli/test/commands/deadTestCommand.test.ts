import { Bot, Incident, Updates } from "@colloquy/core"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import { TestIncident } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { fill, makeBot, started } from "../support/bots.ts"
import { runBot } from "../support/mistakenBot.ts"
import { mistakes, setService } from "../support/mistakes.ts"
import { objects } from "../support/run.ts"

const decode = Schema.decodeUnknownSync(Incident.Incident)

/** The incident in the source of a test. */
const incidentIn = (source: string): Incident.Incident => {
  const [, json = ""] = /^const incident: Incident\.Incident = ([\s\S]*?)^\}$/m.exec(source) ?? []
  return decode(JSON.parse(`${json}}`))
}

const firstLine = (text: string): string => text.split("\n", 1)[0]!

describe("colloquy dead test", () => {
  for (const { bot, mistake, texts } of mistakes) {
    it.effect(
      `writes a test that fails with the same error if a handler ${mistake}, and passes when it is mended`,
      () =>
        Effect.gen(function* () {
          const { colloquy, place } = yield* makeBot("SQLite")
          setService(Effect.succeed(13))
          const { first_name, user_id, username } = yield* runBot(place, bot, texts)
          setService(Effect.die("The test has no network"))
          const [letter] = objects(yield* colloquy("dead", "list", "--json"))
          const { out } = yield* colloquy("dead", "test", letter.id)
          for (const personal of [first_name, String(user_id), username!]) assert.notInclude(out, personal)
          const repeated = yield* Effect.exit(TestIncident.run(bot(false), incidentIn(out)))
          const failure = Exit.isFailure(repeated) ? String(Exit.findErrorOption(repeated)) : ""
          assert.include(failure, firstLine(letter.error))
          yield* TestIncident.run(bot(true), incidentIn(out))
          const raw = yield* colloquy("dead", "test", letter.id, "--raw", "--bot", "../bot.ts")
          assert.include(raw.out, String(user_id))
          assert.include(raw.out, `import { bot } from "../bot.ts"`)
        })
    )
  }

  it.effect("says that the process died, how far the handler came, and that the test cannot repeat this", () =>
    Effect.gen(function* () {
      const { colloquy, onInbox } = yield* makeBot("SQLite")
      const died = Effect.gen(function* () {
        const store = yield* InboxStore
        for (const owner of ["one", "two", "three"]) {
          const claim = { owner, leaseDuration: 60_000, maxPartitions: 1, maxUpdates: 1, begin: 1 }
          const [{ key: partitionKey, updates }] = yield* store.claim(claim)
          const journal = { owner, partitionKey, id: updates[0]!.id }
          const rows = ["started:Messages.send", "done:Messages.send", "started:price"]
          yield* store.write([{ rows: rows.map((key) => ({ key, row: { text: "{}" }, revision: owner })), journal }])
          // The lease expires.
          yield* store.renew(owner, 1)
          yield* TestClock.adjust("1 second")
        }
        const bot = Bot.run(() => Effect.void).pipe(Effect.provide(Updates.layer(Stream.never)))
        const fiber = yield* Effect.forkChild(bot, { startImmediately: true })
        yield* Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), store.stats), {
          until: ({ deadLetters }) => deadLetters === 1
        })
        yield* Fiber.interrupt(fiber)
      })
      yield* onInbox(Effect.andThen(fill([started(1, 1)]), died))
      const [letter] = objects(yield* colloquy("dead", "list", "--json"))
      const { out } = yield* colloquy("dead", "test", letter.id)
      for (const line of [
        "// The process died 3 times while the update was handled, so there is no error to repeat.",
        "// Operations with a recorded result: Messages.send.",
        "// Operations that began and have no result: price.",
        'it("handles the update during which the process died 3 times", () =>'
      ]) {
        assert.include(out, `\n${line}\n`)
      }
      assert.notInclude(out, "fails with its error")
      yield* TestIncident.run(
        Bot.make(() => Effect.void),
        { ...incidentIn(out), journal: [] }
      )
    })
  )
})
