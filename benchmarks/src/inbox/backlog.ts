import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { readdirSync, readFileSync } from "node:fs"
import { compare, type Measured } from "../figure.ts"
import { option } from "../options.ts"
import { freePort, startRedis } from "../redisServer.ts"
import type { Command, Done } from "./backlogBot.ts"
import * as places from "./places.ts"
import { type Program, start } from "./processes.ts"

/** How many updates each round receives and handles. */
const updates = 20_000

const rounds = 3

/** The CPU time of the threads of a process, in microseconds. Linux only. */
const cpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
    const [nanos] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "latin1").split(" ")
    return sum + Number(nanos) / 1000
  }, 0)

/** The CPU time that the server of a store has used for a place, in microseconds. */
type ServerCpu = () => Promise<number>

const postgresCpu = ({ name }: places.Place): ServerCpu => {
  // A connection that was closed in between keeps its last value.
  const known = new Map<number, number>()
  return async () => {
    const rows = await Effect.runPromise(
      SqlClient.SqlClient.use(
        (sql) => sql<{ readonly pid: number }>`SELECT pid FROM pg_stat_activity WHERE datname = ${name}`
      ).pipe(Effect.provide(places.postgres("postgres")))
    )
    for (const { pid } of rows) {
      try {
        known.set(pid, cpuOf(pid))
      } catch {
        // The connection was closed after the query.
      }
    }
    return known.values().reduce((sum, cpu) => sum + cpu, 0)
  }
}

/** A Redis server without persistence for each side, because CPU time is only known of a whole server. */
const withRedis = async <A>(use: (url: string, cpu: ServerCpu) => Promise<A>): Promise<A> => {
  const port = await freePort()
  const server = await startRedis(port)
  try {
    return await use(`redis://127.0.0.1:${port}`, () => Promise.resolve(cpuOf(server.pid!)))
  } finally {
    server.kill("SIGKILL")
  }
}

interface Side {
  readonly program: Program<Command, Done>
  readonly serverCpu: ServerCpu
}

const withSide = async <A>(store: places.Store, use: (side: Side) => Promise<A>): Promise<A> => {
  const run = async (place: places.Place, serverCpu: ServerCpu, environment: Readonly<Record<string, string>>) => {
    const program = start<Command, Done>("backlogBot.ts", places.toArguments(place), { environment })
    try {
      await program.next(({ run }) => run === "start")
      return await use({ program, serverCpu })
    } finally {
      await program.kill()
    }
  }
  if (store === "redis") {
    return withRedis((url, cpu) => run({ store, name: "backlog" }, cpu, { BENCH_REDIS_URL: url }))
  }
  return places.withPlace(store, (place) =>
    run(place, store === "postgres" ? postgresCpu(place) : () => Promise.resolve(0), {})
  )
}

const perform = async ({ program, serverCpu }: Side, command: Command): Promise<number> => {
  const before = await serverCpu()
  const done = program.next(({ run }) => run === command.run)
  program.send(command)
  const { cpu } = await done
  return (cpu + (await serverCpu()) - before) / command.count
}

/** CPU time in microseconds to receive and handle an update. */
const costOf = async (side: Side): Promise<number> =>
  (await perform(side, { run: "receive", count: updates })) + (await perform(side, { run: "handle", count: updates }))

const ratioOf = (store: places.Store, backlog: number): Promise<Measured> =>
  withSide(store, (full) =>
    withSide(store, async (empty) => {
      await perform(full, { run: "receive", count: backlog })
      const costs = { full: [] as Array<number>, empty: [] as Array<number> }
      for (let round = -1; round < rounds; round++) {
        const measured = [await costOf(full), await costOf(empty)] as const
        if (round < 0) continue
        costs.full.push(measured[0])
        costs.empty.push(measured[1])
      }
      return compare({ name: "with backlog", costs: costs.full }, { name: "without", costs: costs.empty }, "us CPU")
    })
  )

/** CPU time of an update in the bot and its store while many others wait, over the same while none wait. */
export const cost = async (): Promise<Measured> => {
  const backlog = option("backlog", 200_000)
  const measured: Array<readonly [store: string, measured: Measured]> = []
  for (const store of ["sqlite", "postgres", "redis"] as const) measured.push([store, await ratioOf(store, backlog)])
  return {
    value: Math.max(...measured.map(([, { value }]) => value)),
    detail: `${backlog} waiting: ${measured.map(([store, { detail, value }]) => `${store} ${value.toFixed(2)} (${detail})`).join(", ")}`
  }
}
