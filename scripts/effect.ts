/**
 * Runs Effect's diagnostics. Errors and warnings fail, suggestions are printed. `tsconfig.effect.json` has the files of all projects,
 * because a project by itself repeats those of the projects that it refers to.
 */
import { root, run } from "./internal/workspace.ts"

const { ok, output } = run("effect-tsgo", [
  "diagnostics",
  "--project",
  "tsconfig.effect.json",
  "--format",
  "text",
  "--strict"
])
const [, count = "no"] = /Checked (\d+) files/.exec(output) ?? []
const found = output.split("\n").filter((line) => line.includes(" effect("))
for (const line of found) console.log(line.replaceAll(`${root}/`, ""))
console.log(`${count} files, ${found.length} findings`)
if (!ok || !(Number(count) > 0)) {
  if (found.length === 0) console.log(output)
  process.exitCode = 1
}
