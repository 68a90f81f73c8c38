/**
 * Runs all tests: `npm test` with the coverage, the tests that start processes, and the tests on Bun and Deno. Continues after a failure.
 *
 * - `--report`: a file into which the numbers of passed and failed tests are written as JSON.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { parseArgs } from "node:util"
import { root } from "./internal/workspace.ts"

const { values } = parseArgs({ options: { report: { type: "string" } } })

interface Report {
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly fullName: string }>
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

/**
 * The number of passed tests in a report, and the names of the failed ones. A file that cannot be loaded, and an error outside of any
 * test, count as one failed test each.
 */
const countsOf = (report: string, succeeded: boolean) => {
  if (!existsSync(report)) return { passed: 0, failed: ["no report was written"] }
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as Report
  const failed = testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ assertionResults, name }) => {
      const file = relative(root, name)
      const tests = assertionResults.filter(({ status }) => status === "failed")
      return tests.length > 0 ? tests.map(({ fullName }) => `${file}: ${fullName}`) : [file]
    })
  return { passed: numPassedTests, failed: succeeded || failed.length > 0 ? failed : ["an error outside of any test"] }
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
  console.log(`${script}: ${passed} passed, ${failed.length} failed, ${minutes.toFixed(1)} minutes`)
  for (const name of failed) console.log(`  failed: ${name}`)
}
const passed = results.reduce((total, result) => total + result.passed, 0)
const failed = results.reduce((total, result) => total + result.failed.length, 0)
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify({ passed, failed }))
process.exitCode = failed === 0 ? 0 : 1
