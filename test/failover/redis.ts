/** Redis with Sentinel, and a Redis Cluster, in processes of their own. */
import { RedisConnection, RedisInboxStore } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Failover } from "./run.ts"
import { freePort, run, type Server, startServer, temporaryFolder, untilItWorks, NotYet } from "./servers.ts"

/** Whether the server and its command line are installed. */
export const isInstalled = ["redis-server", "redis-cli"].every(
  (program) => spawnSync(program, ["--version"]).status === 0
)

const cli = (port: number, ...args: ReadonlyArray<string>) => run("redis-cli", ["-p", String(port), ...args])

const start = Effect.fnUntraced(function* (folder: string, options: ReadonlyArray<string>) {
  const port = yield* freePort
  const own = join(folder, String(port))
  mkdirSync(own)
  const settings = ["--port", String(port), "--bind", "127.0.0.1", "--dir", own, "--save", "", "--appendonly", "no"]
  const server = yield* startServer("redis-server", [...settings, "--repl-ping-replica-period", "1", ...options], port)
  yield* untilItWorks(cli(port, "PING"))
  return server
})

/** Fails until an answer contains a text. */
const says = (port: number, args: ReadonlyArray<string>, text: string) =>
  untilItWorks(
    Effect.filterOrFail(
      cli(port, ...args),
      (answer) => answer.includes(text),
      (answer) => new NotYet({ message: `${args.join(" ")} answers: ${answer}` })
    )
  )

const isConnected = (replica: Server) => says(replica.port, ["INFO", "replication"], "master_link_status:up")

/** Three sentinels, which promote the replica after the primary was away for a second. */
const startSentinels = Effect.fnUntraced(function* (folder: string, primary: Server) {
  const ports: Array<number> = []
  for (let index = 0; index < 3; index++) {
    const port = yield* freePort
    const file = join(folder, `sentinel-${port}.conf`)
    writeFileSync(
      file,
      [
        `port ${port}`,
        "bind 127.0.0.1",
        `dir ${folder}`,
        `sentinel monitor bots 127.0.0.1 ${primary.port} 2`,
        "sentinel down-after-milliseconds bots 1000",
        "sentinel failover-timeout bots 3000",
        ""
      ].join("\n")
    )
    yield* startServer("redis-server", [file, "--sentinel"], port)
    ports.push(port)
  }
  for (const port of ports) {
    yield* says(port, ["SENTINEL", "MASTER", "bots"], "num-other-sentinels\n2")
    yield* says(port, ["SENTINEL", "MASTER", "bots"], "num-slaves\n1")
  }
  return ports
})

/** With a lag, the replica receives nothing any more for a second before the primary is killed. */
const withSentinel = (hasLag: boolean): Failover => ({
  make: Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const primary = yield* start(folder, [])
    const replica = yield* start(folder, ["--replicaof", "127.0.0.1", String(primary.port)])
    yield* isConnected(replica)
    const ports = yield* startSentinels(folder, primary)
    const redis = RedisConnection.layerSentinel({
      name: "bots",
      sentinelRootNodes: ports.map((port) => ({ host: "127.0.0.1", port }))
    })
    const failOver = Effect.gen(function* () {
      if (hasLag) {
        yield* cli(replica.port, "REPLICAOF", "NO", "ONE")
        yield* Effect.sleep("1 second")
      }
      yield* primary.kill
      for (const port of ports) yield* says(port, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "bots"], String(replica.port))
    })
    return { store: Layer.provide(RedisInboxStore.layer(), redis), failOver }
  })
})

export const sentinel: Failover = withSentinel(false)

export const lagging: Failover = withSentinel(true)

/** Three primaries with a replica each. The primary that has the inbox is killed. */
export const cluster: Failover = {
  make: Effect.gen(function* () {
    const folder = yield* temporaryFolder
    // A busy machine answers late. With the factor 0, a replica takes over however old its data is.
    const timing = ["--cluster-node-timeout", "5000", "--cluster-replica-validity-factor", "0"]
    const nodes: Array<Server> = []
    for (let index = 0; index < 6; index++) {
      // The port that Redis chooses for the cluster may be the port of a connection.
      const clusterPort = String(yield* freePort)
      nodes.push(yield* start(folder, ["--cluster-enabled", "yes", "--cluster-port", clusterPort, ...timing]))
    }
    const [first] = nodes
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
    yield* run("redis-cli", ["--cluster", "create", ...addresses, "--cluster-replicas", "1", "--cluster-yes"])
    for (const { port } of nodes) yield* says(port, ["CLUSTER", "INFO"], "cluster_state:ok")
    const redis = RedisConnection.layerCluster({
      rootNodes: nodes.map(({ port }) => ({ url: `redis://127.0.0.1:${port}` }))
    })
    const failOver = Effect.gen(function* () {
      const slot = Number(yield* cli(first!.port, "CLUSTER", "KEYSLOT", "{colloquy:inbox}"))
      const owner = (yield* cli(first!.port, "CLUSTER", "NODES")).split("\n").find((line) => {
        const [, , flags = "", , , , , , ...slots] = line.split(" ")
        return flags.includes("master") && slots.some((range) => isIn(range, slot))
      })
      const port = Number(/127\.0\.0\.1:(\d+)@/.exec(owner ?? "")?.[1])
      yield* nodes.find((node) => node.port === port)!.kill
      const other = nodes.find((node) => node.port !== port)!
      yield* says(other.port, ["CLUSTER", "NODES"], `:${port}@`)
      yield* says(other.port, ["CLUSTER", "INFO"], "cluster_slots_ok:16384")
    })
    return { store: Layer.provide(RedisInboxStore.layer(), redis), failOver }
  })
}

const isIn = (range: string, slot: number): boolean => {
  const [from = "", to = from] = range.split("-")
  return slot >= Number(from) && slot <= Number(to)
}
