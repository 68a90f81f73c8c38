import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { parseEnv } from "node:util"
import { standard, switchFlag } from "./flags.ts"
import { codeOf } from "./network.ts"
import { invalid, toFailure, type Variables } from "./failure.ts"

/** Where the command runs. */
export interface Place {
  readonly env: Variables
  /** The folder. */
  readonly cwd: string
  /** Asks the person in the terminal a question, which ends in yes or no. `undefined`: there is no terminal. */
  readonly ask?: ((question: string) => Effect.Effect<boolean>) | undefined
  /** Returns the width of the terminal to which the command prints. `undefined`: there is no terminal. */
  readonly columns?: (() => number) | undefined
}

/** The process of the command. */
export class Process extends Context.Service<Process, Place>()("@colloquy/cli/Process") {}

export const isJson = GlobalFlag.Setting("json")({
  flag: switchFlag("json", "Prints JSON: an object, or one object in each line")
})

// Node takes `--env-file` for itself, also behind the name of a script.
export const envFile = GlobalFlag.Setting("env")({
  flag: Flag.String("env").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription(
      "File with the settings of the bot. Variables of the environment take precedence. Default: .env, if it exists"
    ),
    Flag.optional
  )
})

export const storeKinds = ["sqlite", "postgres", "redis"] as const

export type StoreKind = (typeof storeKinds)[number]

export const store = GlobalFlag.Setting("store")({
  flag: Flag.Literals("store", storeKinds).pipe(
    Flag.withDescription(
      "Where the bot stores its data: the file BOT_INBOX, DATABASE_URL or REDIS_URL. Default: postgres if DATABASE_URL is set, otherwise sqlite"
    ),
    Flag.optional
  )
})

export const prefix = GlobalFlag.Setting("prefix")({
  flag: Flag.String("prefix").pipe(standard("colloquy", "Prefix of the tables or keys of the bot"))
})

export const globalFlags = [isJson, envFile, store, prefix] as const

const readVariables = Effect.fnUntraced(function* (cwd: string, file: Option.Option<string>) {
  const path = Option.getOrElse(file, () => ".env")
  const read = Result.try(() => parseEnv(readFileSync(resolve(cwd, path), "utf8")))
  if (Result.isSuccess(read)) return read.success
  if (codeOf(read.failure) !== "ENOENT") {
    return yield* invalid(`--env ${path}: cannot be read: ${toFailure(read.failure).message}`)
  }
  return Option.isNone(file) ? {} : yield* invalid(`--env ${path}: the file does not exist.`)
})

/** Reads a file, or standard input if its name is `-`. */
export const readInput = Effect.fnUntraced(function* (file: string) {
  const { cwd } = yield* Process
  return yield* Effect.try({
    try: () => readFileSync(file === "-" ? 0 : resolve(cwd, file), "utf8").replace(/^\uFEFF/, ""),
    catch: (cause) => invalid(`${file}: cannot be read: ${toFailure(cause).message}`)
  })
})

const defined = (env: Variables): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "")
  )

/** The settings of the bot: the variables of the environment, then the variables of the file. */
export const variables = Effect.gen(function* () {
  const { cwd, env } = yield* Process
  return { ...defined(yield* readVariables(cwd, yield* envFile)), ...defined(env) }
})

/** Provides the settings of the bot to `Config`. */
export const withSettings = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(variables, (env) =>
    Effect.provideService(effect, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )
