/** Records what a bot does to its files. */
import * as Effect from "effect/Effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Files from "../files.ts"
import { type Call, parseLog } from "./disk.ts"
import { databaseName, marksName, type Mark } from "./protocol.ts"

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Why nothing can be recorded here. `undefined` if it can. */
export const unavailable: string | undefined =
  process.platform !== "linux"
    ? "the recorder is for Linux"
    : spawnSync("cc", ["--version"]).status === 0
      ? undefined
      : "there is no compiler `cc`"

const compile = (library: string): void => {
  const { status, stderr } = spawnSync("cc", [
    "-O2",
    "-shared",
    "-fPIC",
    "-o",
    library,
    pathOf("recorder.c"),
    "-lpthread"
  ])
  if (status !== 0) throw new Error(`The recorder cannot be compiled: ${stderr}`)
}

export interface Recording {
  readonly folder: string
  readonly calls: ReadonlyArray<Call>
  /** The files of the database after the last call. */
  readonly files: ReadonlyMap<string, Buffer>
}

export const isMark = ({ kind, path }: Call): boolean => kind === "write" && path.endsWith(`/${marksName}`)

export const markOf = ({ data }: Call): Mark => JSON.parse(data.toString()) as Mark

/** Without its shared memory, which SQLite builds again, and the lock files, which are empty. */
const suffixes = ["", "-wal", "-journal"]

/** Runs the bot, with the given option `synchronous` of `NodeSqlite.layer`. */
export const record = (synchronous: string | undefined): Effect.Effect<Recording> =>
  Effect.gen(function* () {
    const base = realpathSync(yield* Files.folder)
    const folder = join(base, "data")
    const library = join(base, "recorder.so")
    const log = join(base, "log")
    mkdirSync(folder)
    compile(library)
    const args = ["--conditions=source", "--no-warnings", pathOf("bot.ts"), folder, synchronous ?? ""]
    const bot = spawn(process.execPath, args, {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, LD_PRELOAD: library, POWER_FOLDER: folder, POWER_LOG: log }
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => bot.kill("SIGKILL")))
    const [code, signal] = (yield* Effect.promise(() => once(bot, "exit"))) as [number | null, string | null]
    if (signal !== "SIGKILL") throw new Error(`The bot ended by itself, with ${code ?? signal}.`)
    const paths = suffixes.map((suffix) => join(folder, databaseName + suffix))
    const recorded = new Set([...paths, folder])
    return {
      folder,
      calls: parseLog(readFileSync(log)).filter((call) => isMark(call) || recorded.has(call.path)),
      files: new Map(paths.filter((path) => existsSync(path)).map((path) => [path, readFileSync(path)]))
    }
  }).pipe(Effect.scoped)
