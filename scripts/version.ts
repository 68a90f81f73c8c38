/** Writes the version of the packages into the sources and pages that state it. `npm run release:version` runs it. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type File, root } from "./internal/workspace.ts"

/** Where the version stands, apart from the manifests. */
const places = [
  "docs/project.md",
  "packages/cli/src/command.ts",
  "packages/cli/src/doctor/command.ts",
  "packages/create/src/command.ts",
  "packages/create/src/project.ts",
  "packages/testing/src/emulator/internal/command/command.ts",
  "packages/testing/src/emulator/internal/mcp/server.ts"
]

const stated = /(version: "|colloquy: "~|checkVersions\(cwd, "|create-colloquy-)\d+\.\d+\.\d+(?="|\.tgz)/g

/** The version of all packages. */
export const current = (): string =>
  (JSON.parse(readFileSync(join(root, "packages/core/package.json"), "utf8")) as { readonly version: string }).version

/** The files that state the version, with this one instead. */
export const withVersion = (version: string): ReadonlyArray<File> =>
  places.map((path) => ({
    path,
    text: readFileSync(join(root, path), "utf8").replaceAll(stated, (_, before: string) => before + version)
  }))

if (import.meta.main) for (const { path, text } of withVersion(current())) writeFileSync(join(root, path), text)
