import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import * as SqlClient from "effect/sql/SqlClient"
import { accessSync, constants, existsSync, readFileSync, statfsSync } from "node:fs"
import { connect, isIP } from "node:net"
import { dirname, join } from "node:path"
import { toFailure } from "../base/failure.ts"
import { count, duration } from "../base/output.ts"
import * as stores from "../base/stores.ts"
import { ok, type Outcome, problem, skipped, warning } from "./check.ts"

const isListening = (host: string, port: number): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const socket = connect({ host, port, timeout: 3000 })
    const end = (isUp: boolean) => {
      socket.destroy()
      resume(Effect.succeed(isUp))
    }
    socket
      .on("connect", () => end(true))
      .on("error", () => end(false))
      .on("timeout", () => end(false))
    return Effect.sync(() => socket.destroy())
  })

const isAnyAddress = (host: string | undefined) => host === undefined || host === "0.0.0.0" || host === "::"

const liveOf = (host: string, port: number) =>
  Effect.tryPromise({
    try: (signal) => fetch(`http://${isIP(host) === 6 ? `[${host}]` : host}:${port}/health/live`, { signal }),
    catch: toFailure
  }).pipe(
    Effect.timeout("3 seconds"),
    Effect.map(({ status }) => status === 200),
    Effect.orElseSucceed(() => false)
  )

/** Whether the bot, another program or nobody listens on the port of the webhook. */
export const checkPort = Effect.fnUntraced(function* (isWebhook: boolean, host: string | undefined, port: number) {
  if (!isWebhook) return skipped("BOT_WEBHOOK_URL is not set")
  const at = isAnyAddress(host) ? "127.0.0.1" : host!
  if (!(yield* isListening(at, port))) return ok(`${port} is free: the bot does not run on this machine`)
  return (yield* liveOf(at, port))
    ? ok(`the bot listens on ${port}`)
    : warning(
        `something listens on ${port} that does not answer as a webhook of Colloquy`,
        "If it is not the bot, stop it, or set BOT_WEBHOOK_PORT to another port."
      )
})

const gigabyte = 1024 ** 3

/** Space and rights in the folder of the SQLite file. */
export const checkDisk = (file: string | undefined): Outcome => {
  if (file === undefined) return skipped("the data of the bot is not on this machine")
  const folder = dirname(file)
  if (!existsSync(folder))
    return warning(`the folder ${folder} does not exist`, "The bot creates it when it starts; check BOT_INBOX.")
  try {
    accessSync(folder, constants.W_OK | constants.R_OK)
  } catch {
    return problem(
      `${folder} is not writable`,
      "Grant the user of the bot the right to write there; SQLite creates files beside the inbox."
    )
  }
  const { bavail, blocks, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const shown = `${(free / gigabyte).toFixed(1)} GiB of ${((blocks * bsize) / gigabyte).toFixed(1)} GiB free at ${folder}`
  if (free < gigabyte / 4) return problem(shown, "Free space: without it, updates cannot be stored.")
  return free < gigabyte ? warning(shown, "Free space before it runs out.") : ok(shown)
}

const databaseName = { sqlite: "SQLite", postgres: "PostgreSQL", redis: "Redis" } as const

const sqlVersion = (place: stores.Place) =>
  SqlClient.SqlClient.use((sql) =>
    place.kind === "sqlite"
      ? sql<{ version: string }>`SELECT sqlite_version() AS version`
      : sql<{ version: string }>`SELECT current_setting('server_version') AS version`
  ).pipe(
    Effect.map(([row]) => row?.version ?? "unknown"),
    Effect.provide(stores.sqlOf(place))
  )

/** The SQL database of the bot. */
export const checkDatabase = (place: stores.Place): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    if (place.kind === "redis") return skipped("the bot stores its data in Redis")
    if (place.kind === "sqlite" && !existsSync(place.at)) {
      return warning(
        `there is no SQLite file ${place.at}`,
        "The bot creates it with the first update. If it has run, run this command in its folder, or set BOT_INBOX."
      )
    }
    return ok(`${databaseName[place.kind]} ${yield* sqlVersion(place)} answers`)
  }).pipe(
    Effect.orElseSucceed((error) =>
      problem(
        `${databaseName[place.kind]} does not answer: ${toFailure(error).message}`,
        place.kind === "postgres"
          ? "Check DATABASE_URL, the server and the network."
          : "Check BOT_INBOX and the rights of the file."
      )
    )
  )

const fieldOf = (info: string, field: string): string =>
  new RegExp(`^${field}:(.*)$`, "m").exec(info)?.[1]?.trim() ?? ""

const isOldRedis = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < 6 || (major === 6 && minor < 2)
}

/** The Redis server. */
export const checkRedis = (url: string | undefined, isStore: boolean): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    if (url === undefined) return skipped("REDIS_URL is not set")
    const info = yield* Redis.Redis.use((redis) => redis.send<string>("INFO")).pipe(
      Effect.provide(stores.redisOf({ kind: "redis", prefix: "colloquy", at: url })),
      Effect.timeout("10 seconds")
    )
    const version = fieldOf(info, "redis_version")
    const policy = fieldOf(info, "maxmemory_policy")
    if (isOldRedis(version)) return problem(`Redis ${version} is too old`, "Install Redis 6.2 or later.")
    if (isStore && policy !== "noeviction") {
      return problem(
        `Redis ${version} may delete updates: maxmemory-policy is ${policy}`,
        "Set maxmemory-policy to noeviction."
      )
    }
    if (isStore && fieldOf(info, "aof_enabled") !== "1") {
      return warning(
        `Redis ${version} loses updates when it stops: appendonly is no`,
        "Set appendonly to yes, and appendfsync to always."
      )
    }
    return ok(`Redis ${version} answers`)
  }).pipe(
    Effect.orElseSucceed((error) =>
      problem(`Redis does not answer: ${toFailure(error).message}`, "Check REDIS_URL, the server and the network.")
    )
  )

/** Checks the queued updates and dead letters of the inbox. */
export const checkInbox = (place: stores.Place) => {
  if (place.kind === "sqlite" && !existsSync(place.at)) return Effect.succeed(skipped("there is no inbox yet"))
  return Effect.gen(function* () {
    const { deadLetters, oldestReceivedAt, queued } = yield* Effect.flatMap(Inbox.Inbox, ({ stats }) => stats)
    const now = yield* Clock.currentTimeMillis
    const age = oldestReceivedAt === undefined ? 0 : now - oldestReceivedAt
    if (age > stores.lateAfter) {
      return problem(
        `${count(queued, "update")} queued, the oldest received ${duration(age)} ago`,
        "Check that the bot runs and that its handlers end; `colloquy inbox list` shows the updates."
      )
    }
    return deadLetters > 0
      ? warning(
          `${count(queued, "update")} queued, ${count(deadLetters, "dead letter")}`,
          "`colloquy dead list` shows their errors."
        )
      : ok(`${count(queued, "update")} queued, no dead letters`)
  }).pipe(
    Effect.provide(stores.inbox),
    Effect.orElseSucceed((error) =>
      problem(`cannot be read: ${toFailure(error).message}`, "See the checks of the database and Redis.")
    )
  )
}

const versionIn = (cwd: string, name: string): string | undefined => {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const manifest = join(folder, "node_modules", name, "package.json")
    if (existsSync(manifest))
      return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version
    if (dirname(folder) === folder) return undefined
  }
}

/** The versions of Node, Effect and the packages that the bot has installed. */
export const checkVersions = (cwd: string, own: string): Outcome => {
  const packages = ["@colloquy/core", "@colloquy/node", "effect"]
  const found = packages.flatMap((name) => {
    const version = versionIn(cwd, name)
    return version === undefined ? [] : [[name, version] as const]
  })
  const shown = [`Node ${process.versions.node}`, ...found.map(([name, version]) => `${name} ${version}`)].join(", ")
  const colloquy = found.filter(([name]) => name.startsWith("@colloquy/")).map(([, version]) => version)
  if (colloquy.some((version) => version !== own)) {
    return warning(
      `${shown}; this command is ${own}`,
      "Install the version of @colloquy/cli that the bot has of the other packages."
    )
  }
  const effect = found.find(([name]) => name === "effect")?.[1]
  return effect !== undefined && !effect.startsWith("4.1.") ? problem(shown, "Install effect 4.1.") : ok(shown)
}
