import { fromConfigError, InvalidSettings } from "@colloquy/core/client/Settings"
import { reasonOf } from "@colloquy/core/base/StoreError"
import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** Variables of the environment. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Why the command failed, in one line. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly message: string
  /** The exit code: 1, or 2 if the arguments or the settings are invalid. */
  readonly code: 1 | 2
}> {}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ").trim()

export const failed = (message: string): CommandFailed => new CommandFailed({ message: oneLine(message), code: 1 })

export const invalid = (message: string): CommandFailed => new CommandFailed({ message: oneLine(message), code: 2 })

/** Describes an error of any kind. */
export const toFailure = (error: unknown): CommandFailed => {
  if (error instanceof CommandFailed) return error
  if (error instanceof Config.ConfigError) return toFailure(fromConfigError(error))
  return error instanceof InvalidSettings ? invalid(error.message) : failed(reasonOf(error))
}

/** Writes a file. */
export const writing = <A>(file: string, write: () => A): Effect.Effect<A, CommandFailed> =>
  Effect.try({ try: write, catch: (cause) => failed(`${file}: cannot be written: ${toFailure(cause).message}`) })

const passwordOf = (url: string | undefined): ReadonlyArray<string> => {
  const { password = "" } = URL.parse(url ?? "") ?? {}
  return password === "" ? [] : [password, decodeURIComponent(password)]
}

/** Replaces the token, the secrets and the passwords of the settings in a text. */
export const withoutSecrets = (text: string, env: Variables): string =>
  [
    env["BOT_TOKEN"],
    env["BOT_WEBHOOK_SECRET"],
    ...(env["BOT_WEBHOOK_ACCEPTED_SECRETS"] ?? "").split(","),
    ...passwordOf(env["DATABASE_URL"]),
    ...passwordOf(env["REDIS_URL"]),
    ...passwordOf(env["BOT_PROXY"])
  ].reduce<string>(
    (shown, secret) =>
      secret === undefined || secret.trim().length < 4 ? shown : shown.replaceAll(secret.trim(), "<redacted>"),
    text
  )
