/** Checks the packed packages with publint and are-the-types-wrong, and their sizes. */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pack } from "./internal/pack.ts"
import { run } from "./internal/workspace.ts"

/** The largest sizes of the packed packages, in kilobytes. */
const limits: Readonly<Record<string, number>> = {
  core: 1850,
  node: 400,
  testing: 1300,
  worker: 50,
  create: 150,
  cli: 900
}

const sizeOf = (name: string, tarball: string) => {
  const size = Math.ceil(statSync(tarball).size / 1000)
  return { ok: size <= limits[name], output: `${size} kB, and the limit is ${limits[name]} kB` }
}

const folder = mkdtempSync(join(tmpdir(), "colloquy-packages-"))
try {
  for (const { name, tarball } of pack(folder)) {
    // A command has no types.
    const types = name !== "create" &&
      name !== "cli" && {
        attw: run("attw", [tarball, "--profile", "esm-only", "--no-color", "--no-emoji"])
      }
    const checks = {
      publint: run("publint", ["run", tarball, "--strict"]),
      ...types,
      size: sizeOf(name, tarball)
    }
    for (const [check, { ok, output }] of Object.entries(checks)) {
      console.log(`${name}: ${check} ${ok ? "finds nothing" : `finds:\n${output}`}`)
      if (!ok) process.exitCode = 1
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
