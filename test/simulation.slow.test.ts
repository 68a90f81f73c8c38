import { execFile, execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { situationNames } from "./simulation/planning.ts"
import { hashOf } from "../packages/testing/src/simulation/internal/world/dice.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The machine can be busy. In milliseconds. */
const limit = 600_000

const failures = fileURLToPath(new URL("simulation/failures/", import.meta.url))

/** Each commit runs other seeds. */
const firstSeed = Math.abs(hashOf(execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" })))

/** Returns what the simulator prints. */
const simulate = async (...args: ReadonlyArray<string>): Promise<string> => {
  const run = promisify(execFile)
  try {
    const { stdout } = await run(process.execPath, ["--conditions=source", "scripts/simulate.ts", ...args], {
      cwd: root,
      maxBuffer: 2 ** 28
    })
    return stdout
  } catch (error) {
    const { stderr, stdout } = error as { readonly stdout: string; readonly stderr: string }
    return stdout + stderr
  }
}

/** The lines without what the machine decides: the time and the memory. */
const repeatable = (output: string): ReadonlyArray<string> =>
  output
    .split("\n")
    .filter((line) => !/^\d+ (seeds|min)/.test(line))
    .map((line) => line.replace(/\(.*?\)/, ""))

describe("the simulator", { timeout: limit }, () => {
  it("runs the same seeds in two threads as in one", async () => {
    const [one, two] = await Promise.all(["1", "2"].map((workers) => simulate("--seeds", "12", "--workers", workers)))
    assert.deepStrictEqual(repeatable(two), repeatable(one))
  })

  it("finds nothing in 200 seeds", async () => {
    const totals = await simulate("--seed", String(firstSeed), "--seeds", "200", "--workers", "2")
    assert.match(totals, /^200 seeds in \d+ s \(.*\), 0 of them with a failure$/m, totals)
  }, 600_000)

  it.each(situationNames)("finds nothing in 25 seeds of the situation %s", async (situation) => {
    const totals = await simulate("--situation", situation, "--seeds", "25", "--workers", "2")
    assert.match(totals, /^25 seeds in \d+ s \(.*\), 0 of them with a failure$/m, totals)
  })

  it.each(readdirSync(failures))("finds nothing in a run that has failed: %s", async (name) => {
    assert.match(await simulate("--plan", `${failures}${name}`), /^fingerprint \w+\n$/)
  })
})
