import { execFile, spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
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

interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Where npm puts the programs of the workspace, and `scripts/install.ts` those of the tools. */
export const programs: ReadonlyArray<string> = [".", "tools/checks", "tools/runtimes"].map((folder) =>
  join(root, folder, "node_modules/.bin")
)

const settings = (options: RunOptions) => ({
  cwd: options.cwd ?? root,
  env: {
    ...process.env,
    PATH: [...programs, process.env.PATH].join(delimiter),
    ...options.env
  },
  encoding: "utf8" as const,
  maxBuffer: 1 << 28
})

/** Runs a program of the workspace, such as `tsc`, and returns its output. */
export const run = (program: string, args: ReadonlyArray<string>, options: RunOptions = {}): Ran => {
  const ran = spawnSync(program, args, { ...settings(options), stdio: ["ignore", "pipe", "pipe"] })
  return { ok: ran.status === 0, output: `${ran.stdout ?? ""}${ran.stderr ?? ""}${ran.error ? ran.error.message : ""}` }
}

/** Like {@link run}, without blocking the process meanwhile. */
export const start = (program: string, args: ReadonlyArray<string>): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(program, args, settings({}), (error, stdout, stderr) => {
      // The code of a program is a number, and that of a failure to start one is a text.
      const failure = typeof error?.code === "string" ? error.message : ""
      resolve({ ok: error === null, output: `${stdout}${stderr}${failure}` })
    })
    child.stdin?.end()
  })

/** Applies `use` to each item, to several at the same time. Half of the cores are left to the programs, which use several. */
export const inParallel = async <A, B>(items: ReadonlyArray<A>, use: (item: A) => Promise<B>): Promise<Array<B>> => {
  const results: Array<B> = []
  const left = items.entries()
  const worker = async () => {
    for (const [index, item] of left) results[index] = await use(item)
  }
  await Promise.all(Array.from({ length: Math.max(1, availableParallelism() / 2) }, worker))
  return results
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
