/** The runtimes on which the suites of core and testing run. */
export const runtimes = ["node", "bun", "deno"] as const

export type Runtime = (typeof runtimes)[number]

export interface Skipped {
  /** On which runtimes. */
  readonly on: ReadonlyArray<Runtime>
  /** A file, or a folder of files, relative to `packages`. */
  readonly path: string
  /** The beginning of the titles of the tests. Default: all tests of the file. */
  readonly title?: string
  /** Why. */
  readonly reason: string
}

/** The tests that do not run on a runtime. docs/runtimes.md lists them. */
export const skipped: ReadonlyArray<Skipped> = [
  {
    on: ["bun", "deno"],
    path: "testing/test/ui",
    reason:
      "tests the page of the emulator, which runs in a browser. The server of the page is tested by the other tests"
  },
  {
    on: ["bun", "deno"],
    path: "testing/test/bin.test.ts",
    title: "prints on Node",
    reason: "tests the check of the version of Node, which does not concern other runtimes"
  },
  {
    on: ["bun"],
    path: "testing/test/command/command.test.ts",
    title: "stops the program after -- on SIGTERM",
    reason:
      "Bun removes the first `--` from the arguments of a program, so `colloquy-emulator -- PROGRAM` needs an option before `--`"
  },
  {
    on: ["bun"],
    path: "testing/test/command/command.test.ts",
    title: "prints an invalid flag or file in one line",
    reason: "Bun reports port 0 when a port is in use, so the command prints `127.0.0.1:0: the address is in use`"
  },
  {
    on: ["bun"],
    path: "testing/test/http/nodeServer.test.ts",
    title: "answers OPTIONS *",
    reason: "the HTTP server of Bun answers `OPTIONS *` with 400 before the emulator sees it"
  },
  {
    on: ["bun", "deno"],
    path: "testing/test/mcp/server.test.ts",
    title: "return each event once",
    reason: "it does not end. The cause is not known"
  },
  {
    on: ["deno"],
    path: "testing/test/command/command.test.ts",
    title: "prints its URL in the first line",
    reason:
      "`node:child_process` of Deno reports the signal instead of the exit code after `kill`. Outside of it, the command exits with 0"
  },
  {
    on: ["deno"],
    path: "testing/test/command/command.test.ts",
    title: "exits at once while a poll waits",
    reason:
      "`node:child_process` of Deno reports the signal instead of the exit code after `kill`. Outside of it, the command exits with 0"
  },
  {
    on: ["deno"],
    path: "testing/test/command/command.test.ts",
    title: "stops the program after -- on SIGTERM",
    reason:
      "`node:child_process` of Deno reports the signal instead of the exit code after `kill`. Outside of it, the command exits with 0"
  },
  {
    on: ["deno"],
    path: "testing/test/command/command.test.ts",
    title: "replays a recorded journal",
    reason:
      "`node:child_process` of Deno reports the signal instead of the exit code after `kill`. Outside of it, the command exits with 0"
  },
  {
    on: ["deno"],
    path: "testing/test/command/command.test.ts",
    title: "runs the program after --",
    reason: "the arguments of a script of `deno -e` begin at another position of `process.argv` than in Node"
  }
]

/** The runtime of a process, by its `process.versions`. */
export const runtimeOf = (versions: NodeJS.ProcessVersions): Runtime =>
  versions["bun"] !== undefined ? "bun" : versions["deno"] !== undefined ? "deno" : "node"

/** Patterns of the files of a package that Vitest leaves out. */
export const skippedFiles = (runtime: Runtime, name: string): ReadonlyArray<string> =>
  skipped.flatMap(({ on, path, title }) =>
    on.includes(runtime) && title === undefined && path.startsWith(`${name}/`)
      ? [path.slice(name.length + 1), `${path.slice(name.length + 1)}/**`]
      : []
  )

/** Why a test does not run on a runtime, or `undefined` if it does. */
export const reasonToSkip = (runtime: Runtime, file: string, title: string): string | undefined =>
  skipped.find(
    (entry) =>
      entry.on.includes(runtime) &&
      entry.title !== undefined &&
      file.endsWith(`packages/${entry.path}`) &&
      title.startsWith(entry.title)
  )?.reason
