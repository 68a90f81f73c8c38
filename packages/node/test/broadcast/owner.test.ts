import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { NodeSqlite, SqlBroadcastStore } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { isGone, ownerIn } from "../../src/broadcast/internal/owner.ts"
import { temporaryFolder } from "../support/databases.ts"

const lease = { name: "news", leaseDuration: 20_000, create: true }

describe.skipIf(process.platform !== "linux")("the lease of a process", () => {
  it.live("is free when the process has ended, and not before", () =>
    Effect.gen(function* () {
      const filename = join(yield* temporaryFolder, "bot.sqlite")
      const context = yield* Layer.build(Layer.provideMerge(SqlBroadcastStore.layer(), NodeSqlite.layer({ filename })))
      const store = Context.get(context, BroadcastStore.BroadcastStore)
      const sql = Context.get(context, SqlClient.SqlClient)
      const acquire = (owner: string) => Effect.map(store.acquireLease({ ...lease, owner }), Option.isSome)
      const child = spawn("sleep", ["60"])
      yield* acquire("one")
      yield* sql`UPDATE colloquy_broadcasts SET owner = ${ownerIn("one", child.pid)}`
      assert.isFalse(yield* acquire("two"))
      child.kill("SIGKILL")
      yield* Effect.promise(() => once(child, "close"))
      assert.isTrue(yield* acquire("two"))
      assert.isFalse(yield* acquire("three"))
      assert.isTrue(yield* acquire("two"))
      yield* store.begin({ name: "news", owner: "two", recipients: [] })
    })
  )

  it("is not free if the process is unknown, or runs in another space", () => {
    const own = ownerIn("one")
    assert.isFalse(isGone(own))
    assert.isFalse(isGone("one"))
    assert.isFalse(isGone(own.replace("pid:", "other:")))
    const [, , , start = ""] = own.split(" ")
    assert.isTrue(isGone(`${own.slice(0, -start.length)}1`))
  })
})
