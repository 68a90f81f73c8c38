import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeBot } from "../support/bots.ts"
import { bot, runBot } from "../support/mistakenBot.ts"
import { mistakes } from "../support/mistakes.ts"
import { objects } from "../support/run.ts"
import { runTest, typeErrorsIn } from "../support/writtenTest.ts"

/** A folder for a written test, which is deleted when the scope closes. */
const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(import.meta.dirname, "written-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("the file that colloquy dead test prints", () => {
  it.effect("compiles, fails with the error of the dead letter, and passes when the mistake is mended", () =>
    Effect.gen(function* () {
      const { colloquy, place } = yield* makeBot("SQLite")
      yield* runBot(place, () => bot, mistakes[0]!.texts)
      const [letter] = objects(yield* colloquy("dead", "list", "--json"))
      const { out } = yield* colloquy("dead", "test", letter.id, "--bot", "../../support/mistakenBot.ts")
      const file = join(yield* folder, "incident.test.ts")
      writeFileSync(file, out)
      assert.deepStrictEqual(yield* Effect.promise(() => typeErrorsIn(file)), [])
      const broken = yield* Effect.promise(() => runTest(file))
      assert.strictEqual(broken.code, 1, broken.out)
      assert.include(broken.out, String(letter.error).split("\n", 1)[0])
      const mended = yield* Effect.promise(() => runTest(file, { IS_MENDED: "true" }))
      assert.strictEqual(mended.code, 0, mended.out)
    })
  )
})
