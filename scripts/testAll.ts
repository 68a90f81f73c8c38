/**
 * Runs all tests: `npm test` with the coverage, the tests that start processes, and the tests on Bun and Deno. Continues after a failure.
 *
 * - `--report`: a file into which the numbers of passed and failed tests are written as JSON.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { root } from "./internal/workspace.ts"

const { values } = parseArgs({ options: { report: { type: "string" } } })

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: ReadonlyArray<{
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string }>
  }>
}

const folder = mkdtempSync(join(tmpdir(), "tests-"))

const vitest = ["--reporter=default", "--reporter=json", "--outputFile.json"]

/** The scripts, and the arguments before the path of their JSON report. */
const parts: ReadonlyArray<readonly [script: string, ...args: ReadonlyArray<string>]> = [
  ["test", "--coverage", ...vitest],
  ["test:slow", ...vitest],
  ["test:bun", "--minutes", "15", "--report"],
  ["test:deno", "--minutes", "15", "--report"]
]

/** A file that cannot be loaded, and an error outside of any test, count as one failed test each. */
const countsOf = (report: string, succeeded: boolean) => {
  if (!existsSync(report)) return { passed: 0, failed: 1 }
  const { numFailedTests, numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as Report
  const unloaded = testResults.filter(
    ({ assertionResults, status }) =>
      status === "failed" && assertionResults.every((result) => result.status !== "failed")
  )
  const failed = numFailedTests + unloaded.length
  return { passed: numPassedTests, failed: succeeded ? failed : Math.max(1, failed) }
}

const results = parts.map(([script, ...args]) => {
  const report = join(folder, `${script.replace(":", "-")}.json`)
  const last = args.at(-1) === "--report" ? [...args, report] : [...args.slice(0, -1), `${args.at(-1)}=${report}`]
  const began = performance.now()
  const { status } = spawnSync("npm", ["run", script, "--", ...last], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"]
  })
  return { script, minutes: (performance.now() - began) / 60_000, ...countsOf(report, status === 0) }
})

rmSync(folder, { recursive: true, force: true })

for (const { failed, minutes, passed, script } of results) {
  console.log(`${script}: ${passed} passed, ${failed} failed, ${minutes.toFixed(1)} minutes`)
}
const sum = (key: "passed" | "failed") => results.reduce((total, result) => total + result[key], 0)
const total = { passed: sum("passed"), failed: sum("failed") }
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(total))
process.exitCode = total.failed === 0 ? 0 : 1
