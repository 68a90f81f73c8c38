/** Checks the packed packages with publint and are-the-types-wrong. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pack } from "./internal/pack.ts"
import { run } from "./internal/workspace.ts"

const folder = mkdtempSync(join(tmpdir(), "colloquy-packages-"))
try {
  for (const { name, tarball } of pack(folder)) {
    const checks = {
      publint: run("publint", ["run", tarball, "--strict"]),
      attw: run("attw", [tarball, "--profile", "esm-only", "--no-color", "--no-emoji"])
    }
    for (const [check, { ok, output }] of Object.entries(checks)) {
      console.log(`@colloquy/${name}: ${check} ${ok ? "finds nothing" : `finds:\n${output}`}`)
      if (!ok) process.exitCode = 1
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
