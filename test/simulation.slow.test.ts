import { execFile, execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { hashOf } from "./simulation/world/dice.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

const failures = fileURLToPath(new URL("simulation/failures/", import.meta.url))

/** Each commit runs other seeds. */
const firstSeed = Math.abs(hashOf(execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" })))

/** Returns what the simulator prints about rules that do not hold. */
const simulate = async (...args: ReadonlyArray<string>): Promise<string> => {
  const run = promisify(execFile)
  try {
    await run(process.execPath, ["--conditions=source", "scripts/simulate.ts", ...args], {
      cwd: root,
      maxBuffer: 2 ** 28
    })
    return ""
  } catch (error) {
    const { stderr, stdout } = error as { readonly stdout: string; readonly stderr: string }
    return stdout + stderr
  }
}

describe("the simulator", () => {
  it("finds nothing in 200 seeds", async () => {
    const found = await Promise.all(
      [0, 100].map((offset) => simulate("--seed", String(firstSeed + offset), "--seeds", "100"))
    )
    assert.deepStrictEqual(found, ["", ""])
  })

  it.each(readdirSync(failures))("finds nothing in a run that has failed: %s", async (name) => {
    assert.strictEqual(await simulate("--plan", `${failures}${name}`), "")
  })
})
