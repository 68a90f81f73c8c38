import { ChatId } from "@colloquy/core/model/Recipient"
import * as Timer from "@colloquy/core/bot/Timer"
import { assert, describe, it } from "@effect/vitest"
import { displayWidth } from "effect/cli/CliOutput"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { stripVTControlCharacters } from "node:util"
import { table } from "../../src/base/output.ts"
import { added, fill, makeBot, started } from "../support/bots.ts"
import { run } from "../support/run.ts"

describe("table", () => {
  it("aligns the columns by their width in a terminal, without columns that are empty", () => {
    assert.deepStrictEqual(
      table([
        ["1", undefined, "茶", "x"],
        ["22", "", "tea 🫖", undefined]
      ]),
      ["1   茶      x", "22  tea 🫖"]
    )
  })

  it("cuts the widest columns until the rows have the width, and leaves no line break in a cell", () => {
    const rows = [
      ["1", "a\nname", "茶".repeat(20)],
      ["2", "another name", "short"]
    ]
    const lines = table(rows, 30)
    assert.deepStrictEqual(lines, ["1  a name        茶茶茶茶茶茶…", "2  another name  short"])
    assert.deepStrictEqual(
      table(rows, 20).map((line) => displayWidth(line) <= 20),
      [true, true]
    )
  })
})

describe("a list in a terminal", () => {
  it.live("is as wide as the terminal, and has colors by the state of its rows", () =>
    Effect.gen(function* () {
      const { onInbox, place } = yield* makeBot("SQLite")
      const remind = Timer.make("remind", Schema.String)
      yield* onInbox(remind.for({ chat_id: ChatId.make(1) }).in("1 hour", "tea ".repeat(40)))
      yield* onInbox(
        fill(
          [started(1, 1)],
          [1, -420_000].map((chat) => ({ text: added(chat, chat), error: `no ${"x".repeat(90)}` }))
        )
      )
      const list = (name: string, env: object = {}) =>
        Effect.map(
          run([name, "list"], { BOT_INBOX: place, ...env }, "/", undefined, undefined, () => 60),
          ({ out }) => out.split("\n")
        )
      const [timer] = yield* list("timers")
      assert.strictEqual(displayWidth(timer!), 60)
      assert.match(timer!, /chat 1 {2}"tea .*…$/)
      const [update] = yield* list("inbox")
      assert.match(update!, /bot_started {2}chat 1 {2}Anna \(7\)$/)

      const dead = yield* list("dead")
      assert.deepStrictEqual(
        dead.map((line) => line.startsWith("\u001B[31m")),
        [true, false, true, false]
      )
      const [first, error, second] = dead.map((line) => stripVTControlCharacters(line))
      assert.strictEqual(error, `    no ${"x".repeat(90)}`)
      assert.strictEqual(first!.indexOf("Boris"), second!.indexOf("Boris"))
      assert.deepStrictEqual(
        (yield* list("dead", { NO_COLOR: "1" })).filter((line) => line.includes("\u001B")),
        []
      )
    }).pipe(Effect.scoped)
  )
})

describe("colloquy --help", () => {
  it.live("has the subcommands before the flags of all commands", () =>
    Effect.gen(function* () {
      for (const group of [[], ["dead"], ["updates"]]) {
        const { out } = yield* run([...group, "--help"], {})
        const titles = out.split("\n").filter((line) => /^[A-Z ]+$/.test(line))
        const examples = group.length === 0 ? ["EXAMPLES"] : []
        assert.deepStrictEqual(titles, ["DESCRIPTION", "USAGE", "SUBCOMMANDS", ...examples, "GLOBAL FLAGS"])
      }
    })
  )
})
