/**
 * Runs the tests that depend on the runtime on another runtime than Node: `npm run test:bun`, `npm run test:deno`. The npm packages
 * `bun` and, on Linux, `@deno/linux-x64-glibc` contain the runtimes. Elsewhere, `deno` has to be installed. Arguments after
 * `--` are passed to Vitest.
 *
 * - `--minutes`: after how long the run is stopped, and fails. Default: 10.
 *
 * Exits with 1 if a test fails, or if a test that test/runtimes/tests.ts names does not exist. Tests that are named there are
 * skipped.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type Runtime, skipped } from "../test/runtimes/tests.ts"
import { otherRuntimes } from "./internal/otherRuntimes.ts"
import { root } from "./internal/workspace.ts"

const { positionals, values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, report: { type: "string" } },
  allowPositionals: true
})

const [name, ...rest] = positionals

const isCommand = (name: string | undefined): name is keyof typeof otherRuntimes => name === "bun" || name === "deno"

if (!isCommand(name)) throw new Error(`Use "bun" or "deno" instead of ${JSON.stringify(name)}.`)

const runtime: Runtime = name
const [program, ...options] = otherRuntimes[name]
const folder = mkdtempSync(join(tmpdir(), "runtimes-"))
const report = values.report ?? join(folder, "report.json")

const ran = spawnSync(
  program,
  [
    ...options,
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--config",
    join(root, "vitest.runtimes.ts"),
    "--reporter=dot",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...rest
  ],
  {
    cwd: root,
    env: { ...process.env, TEST_RUNTIME: runtime, DENO_NO_UPDATE_CHECK: "1" },
    stdio: ["ignore", "inherit", "inherit"],
    timeout: Number(values.minutes) * 60_000,
    killSignal: "SIGKILL"
  }
)

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly assertionResults: ReadonlyArray<{ readonly title: string; readonly status: string }>
  }>
}

const problems: Array<string> = []

if (ran.error !== undefined) problems.push(`${program}: ${ran.error.message}`)
if (existsSync(report)) {
  const { numFailedTests, numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as Report
  if (rest.length === 0) {
    for (const { on, path, title } of skipped) {
      if (!on.includes(runtime)) continue
      const exists = testResults
        .filter((file) => file.name.endsWith(`packages/${path}`))
        .some((file) => file.assertionResults.some((test) => test.title.startsWith(title)))
      if (!exists) problems.push(`There is no test "${title}" in packages/${path}, which is to be skipped.`)
    }
  }
  console.log(`${runtime}: ${numPassedTests} passed, ${numFailedTests} failed`)
} else {
  problems.push(`${program} wrote no report.`)
}

rmSync(folder, { recursive: true, force: true })
for (const problem of problems) console.error(problem)
process.exitCode = ran.status === 0 && problems.length === 0 ? 0 : 1
