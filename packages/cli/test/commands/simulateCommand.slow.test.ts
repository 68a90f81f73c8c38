import { assert, describe, it } from "vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { node, runTest, typeErrorsIn, workspace } from "../support/writtenTest.ts"

const folder = join(workspace, "packages/cli/test")

const colloquy = (...args: ReadonlyArray<string>) =>
  node(folder, ["--conditions=source", join(workspace, "packages/cli/src/bin.ts"), ...args])

describe("colloquy simulate", () => {
  it("says that all rules hold", async () => {
    const { code, out } = await colloquy("simulate", "../../create/templates/echo/src/bot.ts", "--seeds", "2")
    assert.match(
      out,
      /^2 seeds of 7 days each: all rules hold\. The simulation took [\d.]+ s of CPU time: \d+ days in a minute\.$/m
    )
    assert.strictEqual(code, 0)
  })

  it("tells a failure as a story, and writes a test that fails in the same way", async () => {
    const written = mkdtempSync(join(folder, "commands/written-"))
    try {
      const file = join(written, "stuck.test.ts")
      const { code, out } = await colloquy("simulate", "support/stuckBot.ts", "--seeds", "20", "--write", file)
      assert.strictEqual(code, 1)
      assert.match(out, /The conversation "rate" waits for an answer without a timeout/)
      assert.match(out, /day \d, \d\d:\d\d:\d\d: \w+ wrote "\/rate/)
      assert.match(out, /the bot wrote "How was the cake\?"/)
      assert.match(readFileSync(file, "utf8"), /import \{ bot, simulation \} from "\.\.\/\.\.\/support\/stuckBot\.ts"/)
      const test = await runTest(file)
      assert.strictEqual(test.code, 1, test.out)
      assert.include(test.out, 'The conversation "rate" waits for an answer without a timeout')
      assert.deepStrictEqual(await typeErrorsIn(file), [])
    } finally {
      rmSync(written, { recursive: true })
    }
  })

  it("names the export that is missing", async () => {
    const { code, out } = await colloquy("simulate", "support/run.ts")
    assert.strictEqual(code, 2)
    assert.match(out, /run\.ts: the module exports no `bot`/)
  })
})
