export type Runtime = "node" | "bun" | "deno"

/**
 * The tests that run on Bun and Deno, by package, as patterns of files below `test`: those of code that uses what each runtime implements
 * itself, which are numbers in JSON, cryptography, requests and responses, HTTP, TLS, files, SQLite, the drivers of databases,
 * signals and processes.
 */
export const included: Readonly<Record<"core" | "testing" | "node", ReadonlyArray<string>>> = {
  core: [
    "base/{Json,wire}",
    "model/MiniApp",
    "inbox/{SqliteInboxStore,Webhook}",
    "client/{codec,PublicHost}",
    "inbox/sources/{authorization,health,receiver}"
  ],
  testing: [
    "emulator/{EmulatorServer,NodeWebhookSender}",
    "bin.slow",
    "emulator/command/command.slow",
    "emulator/http/*",
    "emulator/upload/host"
  ],
  node: [
    "{base,client,endpoints}/*",
    "base/stores/*",
    "inbox/webhook/*",
    "{inbox,bot,broadcast,tools}/{Node,Redis,Sql}*",
    "inbox/{pgFunctions,processLock.slow,processes.slow,redisInbox}",
    "broadcast/killed.slow"
  ]
}

export interface Skipped {
  /** On which runtimes. */
  readonly on: ReadonlyArray<Runtime>
  /** A file, relative to `packages`. */
  readonly path: string
  /** The beginning of the titles of the tests. */
  readonly title: string
  /** The title of the group of tests. Default: any group. */
  readonly group?: string
  /** Why. */
  readonly reason: string
}

/** The tests of these files that do not run on a runtime. docs/runtimes.md lists them. */
export const skipped: ReadonlyArray<Skipped> = [
  {
    on: ["bun", "deno"],
    path: "testing/test/bin.slow.test.ts",
    title: "prints on Node",
    reason: "tests the check of the version of Node, which does not concern other runtimes"
  },
  {
    on: ["bun"],
    path: "testing/test/emulator/command/command.slow.test.ts",
    title: "stops the program after -- on SIGTERM",
    reason:
      "Bun removes the first `--` from the arguments of a program, so `colloquy-emulator -- PROGRAM` needs an option before `--`"
  },
  {
    on: ["bun"],
    path: "testing/test/emulator/command/command.slow.test.ts",
    title: "prints an invalid flag or file in one line",
    reason: "Bun reports port 0 when a port is in use, so the command prints `127.0.0.1:0: the address is in use`"
  },
  {
    on: ["bun"],
    path: "testing/test/emulator/http/nodeServer.test.ts",
    title: "answers OPTIONS *",
    reason: "the HTTP server of Bun answers `OPTIONS *` with 400 before the emulator sees it"
  },
  {
    on: ["bun", "deno"],
    path: "node/test/client/NodeBotHttpClient.test.ts",
    title: "does not affect other clients of the process",
    reason: "compares with the other HTTP clients of Node, which Bun and Deno replace by clients with other errors"
  },
  {
    on: ["bun", "deno"],
    path: "node/test/client/NodeBotHttpClient.test.ts",
    title: "for a connection that breaks inside a response",
    reason: "the connection of the test is reset before the client has read the beginning of the response"
  },
  {
    on: ["deno"],
    path: "node/test/client/NodeBotHttpClient.test.ts",
    title: "for an expired and a not yet valid certificate",
    reason:
      "Deno rejects the certificates too, with the code `UNABLE_TO_VERIFY_LEAF_SIGNATURE` instead of `CERT_HAS_EXPIRED`"
  },
  {
    on: ["bun"],
    path: "node/test/inbox/webhook/connections.test.ts",
    title: "are closed when more than the maximum are idle",
    reason: "Bun closes silent connections itself after about 12 seconds, which a slow run of the test reaches"
  },
  {
    on: ["bun"],
    path: "node/test/inbox/webhook/connections.test.ts",
    title: "are closed over TLS too",
    reason:
      "a TLS server of Bun reports a connection after its handshake, so the maximum does not count those without one. Bun closes them after about 12 seconds"
  },
  {
    on: ["deno"],
    path: "node/test/base/NodeSqlite.test.ts",
    title: "see changes of a table after they were prepared",
    reason:
      "a prepared statement of Deno keeps the columns that the table had. The stores create their tables before they prepare statements"
  },
  {
    on: ["deno"],
    path: "node/test/inbox/NodeWebhook.test.ts",
    title: "fails if its host is not an address of the machine",
    reason: "Deno reports `EINVAL`, which the error repeats without advice"
  },
  {
    on: ["deno"],
    path: "node/test/inbox/NodeWebhook.test.ts",
    title: "fails if its key belongs to another certificate",
    reason: "Deno finds this out at the first connection"
  },
  {
    on: ["deno"],
    path: "node/test/inbox/processes.slow.test.ts",
    title: "wakes a process that listens",
    group: "in SQLite",
    reason:
      "a process does not watch its lock file on Deno, because Deno would release the lock. The process polls the inbox instead"
  }
]

/** The runtime of a process, by its `process.versions`. */
export const runtimeOf = (versions: NodeJS.ProcessVersions): Runtime =>
  versions["bun"] !== undefined ? "bun" : versions["deno"] !== undefined ? "deno" : "node"

/** Why a test does not run on a runtime, or `undefined` if it does. `group` is the title of the innermost group. */
export const reasonToSkip = (runtime: Runtime, file: string, title: string, group?: string): string | undefined =>
  skipped.find(
    (entry) =>
      entry.on.includes(runtime) &&
      file.endsWith(`packages/${entry.path}`) &&
      (entry.group === undefined || entry.group === group) &&
      title.startsWith(entry.title)
  )?.reason
