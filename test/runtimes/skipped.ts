/** The runtimes on which the suites of core, testing and node run. */
export const runtimes = ["node", "bun", "deno"] as const

export type Runtime = (typeof runtimes)[number]

export interface Skipped {
  /** On which runtimes. */
  readonly on: ReadonlyArray<Runtime>
  /** A file, or a folder of files, relative to `packages`. */
  readonly path: string
  /** The beginning of the titles of the tests. Default: all tests of the file. */
  readonly title?: string
  /** The title of the group of tests. Default: any group. */
  readonly group?: string
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
    path: "node/test/NodeBotHttpClient.test.ts",
    title: "does not affect other clients of the process",
    reason: "compares with the other HTTP clients of Node, which Bun and Deno replace by clients with other errors"
  },
  {
    on: ["bun", "deno"],
    path: "node/test/NodeBotHttpClient.test.ts",
    title: "for a connection that breaks inside a response",
    reason: "the connection of the test is reset before the client has read the beginning of the response"
  },
  {
    on: ["deno"],
    path: "node/test/NodeBotHttpClient.test.ts",
    title: "for an expired and a not yet valid certificate",
    reason:
      "Deno rejects the certificates too, with the code `UNABLE_TO_VERIFY_LEAF_SIGNATURE` instead of `CERT_HAS_EXPIRED`"
  },
  {
    on: ["bun"],
    path: "node/test/webhook/connections.test.ts",
    title: "are closed when more than the maximum are idle",
    reason: "Bun closes silent connections itself after about 12 seconds, which a slow run of the test reaches"
  },
  {
    on: ["bun"],
    path: "node/test/webhook/connections.test.ts",
    title: "are closed over TLS too",
    reason:
      "a TLS server of Bun reports a connection after its handshake, so the maximum does not count those without one. Bun closes them after about 12 seconds"
  },
  {
    on: ["deno"],
    path: "node/test/NodeSqlite.test.ts",
    title: "see changes of a table after they were prepared",
    reason:
      "a prepared statement of Deno keeps the columns that the table had. The stores create their tables before they prepare statements"
  },
  {
    on: ["deno"],
    path: "node/test/NodeWebhook.test.ts",
    title: "fails if its host is not an address of the machine",
    reason: "Deno reports `EINVAL`, which the error repeats without advice"
  },
  {
    on: ["deno"],
    path: "node/test/NodeWebhook.test.ts",
    title: "fails if its key belongs to another certificate",
    reason: "Deno finds this out at the first connection"
  },
  ...["PostgreSQL", "Redis"].map((store): Skipped => ({
    on: ["bun", "deno"],
    path: "node/test/updates/handling.test.ts",
    title: "does what handlers ask for",
    group: `the handling of updates with a store in ${store}`,
    reason:
      "takes a minute on Node, where it runs. Here, the cases of `InboxSuite` run with the store, and these ones with SQLite and in memory"
  })),
  ...["PostgreSQL", "Redis"].map((store): Skipped => ({
    on: ["bun", "deno"],
    path: "node/test/conversation/restarts.test.ts",
    title: "go on after the process was killed",
    group: `in ${store}`,
    reason:
      "starts a process for each of 13 lines, on Node. Here, the fiber of the bot is stopped instead, and its process in SQLite"
  })),
  {
    on: ["deno"],
    path: "node/test/updates/processes.test.ts",
    title: "wakes a process that listens",
    group: "in SQLite",
    reason:
      "a process does not watch its lock file on Deno, because Deno would release the lock. It polls the inbox instead"
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

/** Why a test does not run on a runtime, or `undefined` if it does. `group` is the title of the innermost group. */
export const reasonToSkip = (runtime: Runtime, file: string, title: string, group?: string): string | undefined =>
  skipped.find(
    (entry) =>
      entry.on.includes(runtime) &&
      entry.title !== undefined &&
      file.endsWith(`packages/${entry.path}`) &&
      (entry.group === undefined || entry.group === group) &&
      title.startsWith(entry.title)
  )?.reason
