/** Runs Effect's diagnostics for each project of the workspace. Errors and warnings fail, suggestions are printed. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root, run } from "./internal/workspace.ts"

interface Solution {
  readonly references: ReadonlyArray<{ readonly path: string }>
}

const { references } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")) as Solution

const shown = new Set<string>()

for (const { path } of references) {
  const project = path.endsWith(".json") ? path : `${path}/tsconfig.json`
  const { ok, output } = run("effect-tsgo", ["diagnostics", "--project", project, "--format", "text", "--strict"])
  const [, count] = /Checked (\d+) files/.exec(output) ?? []
  const found = output.split("\n").filter((line) => line.includes(" effect("))
  console.log(`${project}: ${count ?? "no"} files, ${found.length} findings`)
  for (const line of found) {
    if (!shown.has(line)) console.log(line.replaceAll(`${root}/`, ""))
    shown.add(line)
  }
  if (!ok || count === undefined || count === "0") {
    if (found.length === 0) console.log(output)
    process.exitCode = 1
  }
}
