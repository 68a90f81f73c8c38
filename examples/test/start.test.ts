import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const start = fileURLToPath(new URL("../src/start.ts", import.meta.url))

describe("npm start", () => {
  it("plays a conversation where there is no terminal, prints it, and exits with 0", { timeout: 60_000 }, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--conditions=source", start], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"]
    })
    assert.strictEqual(status, 0, stderr)
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.trim())
    assert.deepStrictEqual(lines.slice(0, 5), [
      "you  (opens the bot)",
      "bot  Hello, Ann! Say something, and I say it back.",
      "you  good morning",
      "bot  good morning  [1: Louder]",
      "you  (presses Louder)"
    ])
    assert.sameMembers(lines.slice(5), ["bot edits  GOOD MORNING!", "bot shows  As you like, Ann"])
  })
})
