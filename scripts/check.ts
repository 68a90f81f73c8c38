/** Runs all checks and continues after a failure. `--report FILE` also writes the counts as JSON. */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { run } from "./internal/workspace.ts"

const checks = ["check:types", "check:effect", "check:lint", "check:format", "check:packages", "check:docs"]

const { values } = parseArgs({ options: { report: { type: "string" } } })

const failed = checks.filter((check) => {
  const start = performance.now()
  const { ok, output } = run("npm", ["run", "--silent", check])
  console.log(`${ok ? "ok    " : "FAILED"} ${check} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
  if (!ok) console.log(output.trimEnd().replace(/^/gm, "       "))
  return !ok
})

console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}.`)
if (values.report !== undefined) {
  writeFileSync(values.report, JSON.stringify({ passed: checks.length - failed.length, failed: failed.length }))
}
process.exitCode = failed.length === 0 ? 0 : 1
