import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { delimiter, join, relative } from "node:path"

export const root = join(import.meta.dirname, "../..")

/** The packages with modules to import. */
export const publicPackages = ["core", "node", "testing", "worker"] as const

/** The packages that are published. */
export const publishedPackages = [...publicPackages, "create", "cli"] as const

export interface Ran {
  readonly ok: boolean
  readonly output: string
}

/** Runs a program of the workspace, such as `tsc`, and returns its output. */
export const run = (
  program: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {}
): Ran => {
  const PATH = [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter)
  const ran = spawnSync(program, args, {
    cwd: options.cwd ?? root,
    env: { ...process.env, PATH, ...options.env },
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "pipe"]
  })
  return { ok: ran.status === 0, output: `${ran.stdout ?? ""}${ran.stderr ?? ""}${ran.error ? ran.error.message : ""}` }
}

export interface File {
  readonly path: string
  readonly text: string
}

/** The matching files of a folder, sorted by path. */
export const filesIn = (folder: string, ...patterns: ReadonlyArray<string>): ReadonlyArray<File> =>
  globSync([...patterns], { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(folder, path), "utf8") }))

/** The matching files of the workspace, with paths relative to the root. */
export const files = (...patterns: ReadonlyArray<string>): ReadonlyArray<File> => filesIn(root, ...patterns)
