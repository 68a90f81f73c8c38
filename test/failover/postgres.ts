/** A primary of PostgreSQL with a replica, in processes of their own. */
import { PostgresConnection, SqlInboxStore } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { appendFileSync, chownSync, existsSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { Failover } from "./run.ts"
import { account, freePort, makeAddress, run, startServer, temporaryFolder, untilItWorks, NotYet } from "./servers.ts"

const versions = "/usr/lib/postgresql"
const newest = existsSync(versions)
  ? readdirSync(versions)
      .sort((a, b) => Number(a) - Number(b))
      .at(-1)
  : undefined
const bin = newest === undefined ? "" : join(versions, newest, "bin")

/** Whether the programs of the server are installed, and may be started. */
export const isInstalled = existsSync(join(bin, "postgres")) && (process.getuid?.() !== 0 || "uid" in account)

interface Settings {
  /** Whether a commit waits until the replica has written the commit. */
  readonly isSynchronous: boolean
}

/** A database in the folder `name`, which another program may own. */
const ownFolder = (folder: string, name: string): string => {
  const own = join(folder, name)
  mkdirSync(own, { mode: 0o700 })
  if (account.uid !== undefined && account.gid !== undefined) chownSync(own, account.uid, account.gid)
  return own
}

const psql = (port: number, statement: string) =>
  run("psql", ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres", "-d", "postgres", "-Atc", statement])

const start = Effect.fnUntraced(function* (data: string, port: number) {
  const server = yield* startServer(join(bin, "postgres"), ["-D", data, "-p", String(port)], port, {
    ...account,
    cwd: data
  })
  yield* untilItWorks(psql(port, "SELECT 1"))
  return server
})

const storeAt = (ports: ReadonlyArray<number>) => {
  const hosts = ports.map((port) => `127.0.0.1:${port}`)
  const url = Redacted.make(`postgres://postgres@${hosts.join(",")}/postgres`)
  return SqlInboxStore.layer().pipe(Layer.provide(PostgresConnection.layer({ url, connectionTTL: "5 seconds" })))
}

/** Creates a primary, a replica that receives its writes by `link`, and a store that knows both hosts. */
const makeServers = Effect.fnUntraced(function* ({ isSynchronous }: Settings) {
  const folder = yield* temporaryFolder
  const as = { ...account, cwd: folder, env: { ...process.env, HOME: folder } }
  const [port, replicaPort] = [yield* freePort, yield* freePort]
  const data = ownFolder(folder, "primary")
  yield* run(join(bin, "initdb"), ["-D", data, "-U", "postgres", "-A", "trust", "-N"], as)
  // Processes are killed, and not the machine, so nothing has to be synced to the disk.
  const settings = ["listen_addresses = '127.0.0.1'", `unix_socket_directories = '${folder}'`, "fsync = off"]
  appendFileSync(join(data, "postgresql.conf"), `${settings.join("\n")}\n`)
  const primary = yield* start(data, port)
  const link = yield* makeAddress(port)
  const copy = ownFolder(folder, "replica")
  const source = ["-h", "127.0.0.1", "-p", String(link.port), "-U", "postgres"]
  yield* run(join(bin, "pg_basebackup"), ["-D", copy, "-R", "-X", "stream", "-c", "fast", ...source], as)
  const replica = yield* start(copy, replicaPort)
  yield* untilItWorks(
    Effect.filterOrFail(
      psql(port, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"),
      (count) => count.trim() === "1",
      () => new NotYet({ message: "the replica does not follow the primary" })
    )
  )
  if (isSynchronous) {
    yield* psql(port, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    yield* psql(port, "SELECT pg_reload_conf()")
  }
  return { primary, replica, link, store: storeAt([port, replicaPort]) }
})

/** The primary is killed, and the replica is promoted. */
const killed = (settings: Settings, lag: number): Failover => ({
  make: Effect.gen(function* () {
    const { link, primary, replica, store } = yield* makeServers(settings)
    const failOver = Effect.gen(function* () {
      if (lag > 0) {
        link.hold()
        yield* Effect.sleep(lag)
      }
      yield* primary.kill
      link.cut()
      yield* psql(replica.port, "SELECT pg_promote()")
    })
    return { store, failOver }
  })
})

export const synchronous: Failover = killed({ isSynchronous: true }, 0)

export const asynchronous: Failover = killed({ isSynchronous: false }, 0)

export const lagging: Failover = killed({ isSynchronous: false }, 1500)

/**
 * The primary becomes read-only and stays reachable, and the replica is promoted. The connections of the pool stay with the
 * former primary until they are replaced.
 */
export const demoted: Failover = {
  make: Effect.gen(function* () {
    const { primary, replica, store } = yield* makeServers({ isSynchronous: false })
    const failOver = Effect.gen(function* () {
      yield* psql(primary.port, "ALTER SYSTEM SET default_transaction_read_only = on")
      yield* psql(primary.port, "SELECT pg_reload_conf()")
      yield* untilItWorks(
        Effect.filterOrFail(
          psql(primary.port, "SELECT sent_lsn = replay_lsn FROM pg_stat_replication"),
          (isEqual) => isEqual.trim() === "t",
          () => new NotYet({ message: "the replica lags behind" })
        )
      )
      yield* psql(replica.port, "SELECT pg_promote()")
    })
    return { store, failOver }
  })
}
