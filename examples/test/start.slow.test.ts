import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

const start = (args: ReadonlyArray<string> = [], cwd = pathOf("."), input?: string) => {
  const child = spawnSync(process.execPath, ["--conditions=source", pathOf("../src/start.ts"), ...args], {
    cwd,
    encoding: "utf8",
    ...(input === undefined ? { stdio: ["ignore", "pipe", "pipe"] } : { input })
  })
  return { ...child, lines: child.stdout.split("\n").flatMap((line) => line.trim() || []) }
}

describe("npm start", () => {
  it("runs and prints a fixed conversation without a terminal, and exits with 0", () => {
    const { lines, status, stderr } = start()
    assert.strictEqual(status, 0, stderr)
    assert.deepStrictEqual(lines.slice(0, 6), [
      "you  (opens the bot)",
      "bot  Hello, Ann! Send me a text, and I will repeat it.",
      "you  good morning",
      "bot  good morning",
      "[1: Louder]",
      "you  (presses Louder)"
    ])
    assert.sameMembers(lines.slice(6), ["bot edits  GOOD MORNING!", "bot shows  As you like, Ann"])
  })

  it("runs the bot of a module, whose path is relative to the working directory", () => {
    const { lines, status, stderr } = start(["fixtures/parrot.ts"])
    assert.strictEqual(status, 0, stderr)
    assert.deepStrictEqual(lines, [
      "you  (opens the bot)",
      "bot  Shriek!",
      "you  good morning",
      "bot  Polly: good morning"
    ])
  })

  it("says the lines of standard input one after the other, and presses buttons", () => {
    const { lines, status, stderr } = start([], undefined, "hello\n\n:1\n:7\nbye")
    assert.strictEqual(status, 0, stderr)
    assert.deepStrictEqual(lines.slice(0, 6), [
      "you  (opens the bot)",
      "bot  Hello, Ann! Send me a text, and I will repeat it.",
      "you  hello",
      "bot  hello",
      "[1: Louder]",
      "you  :1"
    ])
    assert.sameMembers(lines.slice(6, 8), ["bot edits  HELLO!", "bot shows  As you like, Ann"])
    assert.deepStrictEqual(lines.slice(8), [
      "you  :7",
      "(the last message with buttons has no button 7)",
      "you  bye",
      "bot  bye",
      "[1: Louder]"
    ])
  })

  it("waits for the button that a line of standard input presses", () => {
    const { lines, status, stderr } = start(["fixtures/late.ts"], undefined, "go\n:1")
    assert.strictEqual(status, 0, stderr)
    assert.deepStrictEqual(lines.slice(2), [
      "you  go",
      "bot  One moment",
      "bot  First line",
      "Second line",
      "[1: Now]",
      "you  :1",
      "bot shows  Pressed"
    ])
  })

  it("runs the fixed conversation if standard input is empty", () => {
    assert.include(start(["fixtures/parrot.ts"], undefined, "").lines, "bot  Polly: good morning")
  })

  it("describes wrong options in a sentence, and exits with 2", () => {
    const usage = "Use npm start, npm start -- FILE, or npm start -- --open FILE."
    for (const [args, problem] of [
      [["--opne"], "npm start has no option --opne."],
      [["-x", "--open=yes"], "npm start has no option -x and no option --open=yes."],
      [["a.ts", "b.ts"], "npm start runs one module, and 2 are given."]
    ] as const) {
      const { status, stderr, stdout } = start(args)
      assert.deepStrictEqual([status, stdout, stderr], [2, "", `${problem} ${usage}\n`])
    }
  })

  describe("with a module without a bot", () => {
    let folder: string

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "colloquy-start-"))
    })

    afterAll(() => rmSync(folder, { recursive: true }))

    /** Returns the error for a module with this source, or for a missing module. */
    const errorOf = (text?: string): string => {
      if (text !== undefined) writeFileSync(join(folder, "mine.ts"), text)
      const { status, stderr, stdout } = start([text === undefined ? "missing.ts" : "mine.ts"], folder)
      assert.strictEqual(status, 2, stderr)
      assert.strictEqual(stdout, "")
      const [line, ...rest] = stderr.split("\n")
      assert.deepStrictEqual(rest, [""])
      return line ?? ""
    }

    it("prints the name of a missing file", () => {
      assert.match(errorOf(), /^Cannot load a bot from missing\.ts: Cannot find module '.*missing\.ts'/)
    })

    it("prints the first line of the error of a module that throws", () => {
      assert.strictEqual(
        errorOf(`throw new Error("not today\\nand more")`),
        "Cannot load a bot from mine.ts: not today"
      )
    })

    it("prints the syntax error of a module", () => {
      assert.match(errorOf("export const bot = ("), /^Cannot load a bot from mine\.ts: ./)
    })

    it("prints that the module does not export `bot`", () => {
      assert.strictEqual(
        errorOf("export const robot = 1"),
        "Cannot load a bot from mine.ts: it has no export named `bot`"
      )
    })

    it("prints that the export `bot` is not an Effect", () => {
      assert.strictEqual(
        errorOf("export const bot = () => {}"),
        "Cannot load a bot from mine.ts: its export `bot` is not an Effect"
      )
    })
  })
})
