import { assert, describe, it } from "vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join, relative } from "node:path"

const workspace = join(import.meta.dirname, "../../../..")
const folder = join(workspace, "packages/cli/test")

interface Ran {
  readonly code: number
  readonly out: string
}

/** Runs a program of Node. The settings of this runner of tests are not for the runner that the program starts. */
const node = (cwd: string, ...args: ReadonlyArray<string>) =>
  new Promise<Ran>((resolve) => {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$)/.test(name)))
    execFile(process.execPath, args, { cwd, env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: `${out}${err}` })
    })
  })

const colloquy = (...args: ReadonlyArray<string>) =>
  node(folder, "--conditions=source", join(workspace, "packages/cli/src/bin.ts"), ...args)

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
      const vitest = join(workspace, "node_modules/vitest/vitest.mjs")
      const config = ["--config", "vitest.workspace.ts"]
      const test = await node(workspace, vitest, "run", ...config, relative(workspace, file))
      assert.strictEqual(test.code, 1, test.out)
      assert.include(test.out, 'The conversation "rate" waits for an answer without a timeout')
      const typescript = join(workspace, "node_modules/typescript/bin/tsc")
      const options = ["--noEmit", "--ignoreConfig", "--module", "nodenext", "--target", "esnext", "--strict"]
      const source = [
        "--customConditions",
        "source",
        "--allowImportingTsExtensions",
        "--skipLibCheck",
        "--types",
        "node",
        file
      ]
      const compiled = await node(workspace, typescript, ...options, ...source)
      assert.notInclude(compiled.out, "stuck.test.ts")
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
