import * as State from "@colloquy/core/bot/State"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import { added, fill, makeBot, started } from "../support/bots.ts"
import { objects } from "../support/run.ts"

const moduleOf = (name: string) => fileURLToPath(new URL(`../support/${name}.ts`, import.meta.url))

const pressOf = (id: number, payload: string) =>
  JSON.stringify({
    update_type: "message_callback",
    timestamp: id,
    callback: {
      timestamp: id,
      callback_id: `c${id}`,
      payload,
      user: { user_id: 7, first_name: "Anna", is_bot: false }
    },
    message: null
  })

const pageOf = (menu: string, page: string) => `menu_${menu}:${JSON.stringify({ at: [{ p: page }], do: ["refresh"] })}`

const conversationOf = (name: string, user: number, entries: ReadonlyArray<unknown> = []) => ({
  key: State.rowKey({ name: `conversation/${name}`, scope: `chat:${user}00/user:${user}` }),
  row: {
    text: JSON.stringify([
      1,
      { run: "r", version: 1, user, startedAt: 1, entries, waiting: { name: "name", signature: "text" } }
    ])
  },
  revision: `${name} ${user}`
})

describe("colloquy check-deploy", () => {
  it.live("lists what would go wrong with counts and examples, and ends with a code", () =>
    Effect.gen(function* () {
      const { colloquy, onInbox } = yield* makeBot("SQLite")
      const check = (...flags: ReadonlyArray<string>) => colloquy("check-deploy", moduleOf("deployBot"), ...flags)
      const empty = yield* check()
      assert.deepStrictEqual([empty.code, empty.out], [0, "The check found no problem in 0 stored data."], empty.err)
      yield* onInbox(
        Effect.gen(function* () {
          const store = yield* InboxStore
          const paid = [["pay", "result", 7]]
          const rows = [
            conversationOf("form", 1, paid),
            conversationOf("form", 2, paid),
            conversationOf("form", 3),
            conversationOf("gone", 4)
          ]
          yield* store.write([{ rows }])
          const cartOf = (user: number, text: string) => ({
            key: State.rowKey({ name: "cart", scope: `user:${user}` }),
            row: { text },
            revision: `cart ${user}`
          })
          yield* store.write([{ rows: [cartOf(1, '[1,["tea"]]'), cartOf(2, "[1,7]"), cartOf(3, "[2,7]")] }])
        })
      )
      yield* onInbox(
        fill(
          [
            started(1, 1),
            pressOf(2, pageOf("shop", "main")),
            pressOf(3, pageOf("shop", "old")),
            pressOf(4, "menu_gone:{}")
          ],
          [{ text: added(-42, 5), error: "x" }]
        )
      )
      const ran = yield* check("--json")
      const groups = objects(ran).map(({ count, examples, is_problem, kind, name, outcome }) =>
        [is_problem ? "problem" : "", kind, name, outcome, count, examples[0]].join(" ").trim()
      )
      assert.sameMembers(groups, [
        "conversation form continues 2 chat:100/user:1",
        "conversation form runs 1 chat:300/user:3",
        "problem conversation gone unhandled 1 chat:400/user:4",
        "state cart continues 1 user:1",
        "problem state cart stale 1 user:2",
        "problem state cart newer 1 user:3",
        "update bot_started continues 1 1",
        "update message_callback continues 1 2",
        "problem update message_callback outdated 1 3",
        "problem update message_callback unhandled 1 4",
        "problem dead letter bot_added unhandled 1 5"
      ])
      assert.deepStrictEqual([ran.code, ran.err], [1, '{"error":"The check found 6 problems in 12 stored data."}'])
      const allow = ["unhandled", "outdated", "stale", "newer"].flatMap((outcome) => ["--allow", outcome])
      const allowed = yield* check(...allow)
      assert.strictEqual(allowed.code, 0, allowed.err)
      assert.include(allowed.out, "change   conversation form (1): runs the step pay\n         such as chat:300/user:3")
      assert.strictEqual((yield* check("--strict", ...allow)).code, 1)
    })
  )

  it.live("names a module without a bot, and a service that the rehearsal lacks", () =>
    Effect.gen(function* () {
      const { colloquy, onInbox } = yield* makeBot("SQLite")
      const missing = yield* colloquy("check-deploy", moduleOf("run"))
      assert.deepStrictEqual([missing.code, missing.out], [2, ""])
      assert.include(missing.err, "exports no `bot`")
      yield* onInbox(InboxStore.use((store) => store.write([{ rows: [conversationOf("form", 1)] }])))
      const ran = yield* colloquy("check-deploy", moduleOf("deployBotOnly"))
      assert.deepStrictEqual([ran.code, ran.err], [1, "colloquy: The check found 1 problem in 1 stored data."])
      assert.include(ran.out, "cannot be rehearsed: the service Prices is missing")
    })
  )
})
