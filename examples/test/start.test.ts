import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

const start = (args: ReadonlyArray<string> = [], cwd = pathOf(".")) => {
  const ran = spawnSync(process.execPath, ["--conditions=source", pathOf("../src/start.ts"), ...args], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"]
  })
  return { ...ran, lines: ran.stdout.split("\n").flatMap((line) => line.trim() || []) }
}

describe("npm start", { timeout: 60_000 }, () => {
  it("plays a conversation where there is no terminal, prints it, and exits with 0", () => {
    const { lines, status, stderr } = start()
    assert.strictEqual(status, 0, stderr)
    assert.deepStrictEqual(lines.slice(0, 5), [
      "you  (opens the bot)",
      "bot  Hello, Ann! Say something, and I say it back.",
      "you  good morning",
      "bot  good morning  [1: Louder]",
      "you  (presses Louder)"
    ])
    assert.sameMembers(lines.slice(5), ["bot edits  GOOD MORNING!", "bot shows  As you like, Ann"])
  })

  it("runs the bot of the module that is named, from the working directory", () => {
    const { lines, status, stderr } = start(["fixtures/parrot.ts"])
    assert.strictEqual(status, 0, stderr)
    assert.deepStrictEqual(lines, [
      "you  (opens the bot)",
      "bot  Shriek!",
      "you  good morning",
      "bot  Polly: good morning"
    ])
  })

  describe("with a module that it cannot run", () => {
    let folder: string

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "colloquy-start-"))
    })

    afterAll(() => rmSync(folder, { recursive: true }))

    /** What it says of a module with this text, or of one that is not there. */
    const refusal = (text?: string): string => {
      if (text !== undefined) writeFileSync(join(folder, "mine.ts"), text)
      const { status, stderr, stdout } = start([text === undefined ? "missing.ts" : "mine.ts"], folder)
      assert.strictEqual(status, 2, stderr)
      assert.strictEqual(stdout, "")
      const [line, ...rest] = stderr.split("\n")
      assert.deepStrictEqual(rest, [""])
      return line ?? ""
    }

    it("names the file that is not there", () => {
      assert.match(refusal(), /^There is no bot to start in missing\.ts: Cannot find module '.*missing\.ts'/)
    })

    it("gives the first line of why a module does not load", () => {
      assert.strictEqual(
        refusal(`throw new Error("I have a cold\\nand more")`),
        "There is no bot to start in mine.ts: I have a cold"
      )
    })

    it("says why a module with a mistake in its syntax does not load", () => {
      assert.match(refusal("export const bot = ("), /^There is no bot to start in mine\.ts: ./)
    })

    it("says that a module exports no `bot`", () => {
      assert.strictEqual(
        refusal("export const robot = 1"),
        "There is no bot to start in mine.ts: it has no export named `bot`"
      )
    })

    it("says that an exported `bot` is not an Effect", () => {
      assert.strictEqual(
        refusal("export const bot = () => {}"),
        "There is no bot to start in mine.ts: its export `bot` is not an Effect"
      )
    })
  })
})
