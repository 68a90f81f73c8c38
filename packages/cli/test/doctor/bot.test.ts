import * as Me from "@colloquy/core/endpoints/Me"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Databases from "../../../node/test/support/databases.ts"
import { platform } from "../support/platform.ts"
import { objects, run } from "../support/run.ts"

const support = join(import.meta.dirname, "../support")

/** The check of the parts and the check of the commands. */
const checksOf = (file: string, env: Readonly<Record<string, string>>) =>
  Effect.map(run(["doctor", "--json", "--bot", file], env, support), (ran) =>
    objects(ran)
      .filter(({ name }) => name === "parts" || name === "commands")
      .map(({ advice, detail, name, status }) => [name, status, detail, advice].join(" | "))
  )

const parts = "parts | ok | command /order, command /help, command /secret, handler message_created | "

describe("colloquy doctor --bot", () => {
  it.live("lists the parts of the bot, and accepts the commands that the bot publishes", () =>
    Effect.gen(function* () {
      const { asBot, env } = yield* platform
      const commands = [
        { name: "order", description: "Orders a pizza" },
        { name: "help", description: "Says what the bot does" }
      ]
      yield* asBot(Me.setCommands({ commands }))
      assert.deepStrictEqual(yield* checksOf("orderBot.ts", env), [parts, "commands | ok | /order, /help | "])
      // A command without a description can be published by the author.
      yield* asBot(Me.setCommands({ commands: [...commands, { name: "secret" }] }))
      assert.deepStrictEqual(yield* checksOf("orderProgram.ts", env), [parts, "commands | ok | /order, /help | "])
    })
  )

  it.live("reports commands that differ from those of the platform", () =>
    Effect.gen(function* () {
      const { asBot, env } = yield* platform
      const commands = [
        { name: "help", description: "Helps" },
        { name: "pay", description: "Pays" }
      ]
      yield* asBot(Me.setCommands({ commands }))
      assert.deepStrictEqual(yield* checksOf("orderBot.ts", env), [
        "commands | warning | the platform does not have /order; the platform has another description of /help; " +
          "the bot does not have /pay | Run the bot with the option publishCommands, or set the commands by Me.setCommands.",
        parts
      ])
    })
  )

  it.live("lists the parts also if the settings are incomplete or the token is rejected", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      assert.deepStrictEqual(yield* checksOf("orderBot.ts", {}), [
        parts,
        "commands | skipped | a setting is missing or malformed | "
      ])
      assert.deepStrictEqual(yield* checksOf("orderBot.ts", { ...env, BOT_TOKEN: "another-token" }), [
        parts,
        "commands | skipped | GET /me failed: see the check of the token | "
      ])
    })
  )

  it.live("says what to export if the module has no bot", () =>
    Effect.gen(function* () {
      const folder = yield* Databases.temporaryFolder
      const detailOf = Effect.fnUntraced(function* (file: string) {
        const [found, ...others] = yield* checksOf(file, {})
        assert.deepStrictEqual(others, [])
        return found
      })
      const moduleOf = (name: string, text: string) => {
        const file = join(folder, `${name}.mjs`)
        writeFileSync(file, text)
        return file
      }
      assert.match(
        (yield* detailOf(moduleOf("other", "export const pizza = 1"))) ?? "",
        /^parts \| problem \| .*other\.mjs: the module exports no `bot`\. Export it: `export const bot = Bot\.make\(…\)`\. \| /
      )
      assert.match(
        (yield* detailOf(moduleOf("number", "export const bot = 1"))) ?? "",
        /number\.mjs: the export `bot` is not a bot\. Export the value of Bot\.make/
      )
      assert.match(
        (yield* detailOf("onlyProgram.ts")) ?? "",
        /onlyProgram\.ts: the export `bot` is a program, .* Export .*: `export const parts = Bot\.make\(…\)`/
      )
      assert.match(
        (yield* detailOf(moduleOf("throws", "throw new Error('no oven')"))) ?? "",
        /throws\.mjs cannot be imported: .*no oven/
      )
      assert.match((yield* detailOf("missing.ts")) ?? "", /^parts \| problem \| missing\.ts cannot be imported: /)
    })
  )
})

describe("colloquy describe", () => {
  it.live("prints the documentation of the bot, or its parts as JSON", () =>
    Effect.gen(function* () {
      const text = yield* run(["describe", "orderBot.ts"], {}, support)
      assert.deepStrictEqual(text, {
        code: 0,
        err: "",
        out: [
          "## Commands\n\n- `/order`: Orders a pizza\n- `/help`: Says what the bot does\n- `/secret`",
          "## Other updates\n\n- `message_created`"
        ].join("\n\n")
      })
      const [json] = objects(yield* run(["describe", "orderProgram.ts", "--json"], {}, support))
      assert.deepStrictEqual(json, {
        parts: [
          { kind: "command", name: "order", description: "Orders a pizza" },
          { kind: "command", name: "help", description: "Says what the bot does" },
          { kind: "command", name: "secret" },
          { kind: "handler", name: "message_created" }
        ]
      })
    })
  )

  it.live("takes the bots of new projects", () =>
    Effect.gen(function* () {
      const templates = join(import.meta.dirname, "../../../create/templates")
      for (const [template, part] of [
        ["echo", "- `/start`: Says hello"],
        ["conversation", "## Conversations\n\n- `booking`"],
        ["assistant", "## Commands"]
      ] as const) {
        const ran = yield* run(["describe", `${template}/src/bot.ts`], {}, templates)
        assert.strictEqual(ran.err, "")
        assert.include(ran.out, part)
      }
    })
  )

  it.live("fails with the code 2 if the module has no bot", () =>
    Effect.gen(function* () {
      const ran = yield* run(["describe", "run.ts"], {}, support)
      assert.strictEqual(ran.code, 2)
      assert.match(ran.err, /^colloquy: run\.ts: the module exports no `bot`\./)
    })
  )
})
