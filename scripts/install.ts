/**
 * Installs the packages of folders that `npm ci` leaves out, each from the lock file of the folder:
 * `node scripts/install.ts site benchmarks`. A folder whose packages are up to date is left as it is.
 */
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root, run } from "./internal/workspace.ts"

/** Changes with everything that decides what npm installs. */
const fingerprint = (folder: string): string =>
  ["package.json", "package-lock.json"]
    .reduce((hash, name) => hash.update(readFileSync(join(folder, name))), createHash("sha256"))
    .digest("hex")

for (const name of process.argv.slice(2)) {
  const folder = join(root, name)
  const stamp = join(folder, "node_modules/.fingerprint")
  const print = fingerprint(folder)
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === print) continue
  console.log(`Installing the packages of ${name}`)
  const { ok, output } = run("npm", ["ci", "--loglevel=error", "--no-audit", "--no-fund"], { cwd: folder })
  if (!ok) {
    console.error(output)
    process.exit(1)
  }
  writeFileSync(stamp, print)
}
