/** Runs all checks, several at the same time, and continues after a failure. `--report FILE` also writes the counts as JSON. */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { inParallel, start } from "./internal/workspace.ts"

/** The first one builds what the others read. */
const [first, ...others] = ["check:types", "check:effect", "check:packages", "check:docs", "check:lint", "check:format"]

/** A failure of this check is reported, and does not count. */
const advance = "check:next"

const { values } = parseArgs({ options: { report: { type: "string" } } })

const check = async (name: string) => {
  const began = performance.now()
  const { ok, output } = await start("npm", ["run", "--silent", name])
  const failure = name === advance ? "noted " : "FAILED"
  console.log(`${ok ? "ok    " : failure} ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`)
  if (!ok) console.log(output.trimEnd().replace(/^/gm, "       "))
  return { name, ok }
}

const checks = [await check(first), ...(await inParallel([...others, advance], check))].filter(
  ({ name }) => name !== advance
)
const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name)

console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}.`)
if (values.report !== undefined) {
  writeFileSync(values.report, JSON.stringify({ passed: checks.length - failed.length, failed: failed.length }))
}
process.exitCode = failed.length === 0 ? 0 : 1
