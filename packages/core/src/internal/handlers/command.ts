import * as Effect from "effect/Effect"
import type * as ApiError from "../../ApiError.ts"
import { BotApi } from "../../BotApi.ts"
import * as Me from "../../Me.ts"

/** The parts of `/name`, `/name text` or `/name@username text`. */
interface ParsedCommand {
  readonly name: string
  readonly username: string | undefined
  /** What follows, without the whitespace around it. */
  readonly text: string
  /** The same, with the whitespace at its end. */
  readonly rest: string
}

const pattern = /^\/([^\s@/]+)(?:@([^\s@]+))?(?:\s+([\s\S]*))?$/

/** Returns `undefined` for a text that does not begin with a command. */
export const parse = (message: string): ParsedCommand | undefined => {
  const [, name, username, rest = ""] = pattern.exec(message) ?? []
  return name === undefined ? undefined : { name: name.toLowerCase(), username, text: rest.trim(), rest }
}

/**
 * Assigns one word of the text to each key and the rest of the text to the last key, with the spaces at its end. A key for which no text is left is
 * missing in the result.
 */
export const splitArguments = (keys: ReadonlyArray<string>, text: string): Readonly<Record<string, string>> => {
  const result: Record<string, string> = {}
  let rest = text.trimStart()
  keys.forEach((key, index) => {
    const end = index === keys.length - 1 ? -1 : rest.search(/\s/)
    const word = end === -1 ? rest : rest.slice(0, end)
    if (word !== "") result[key] = word
    rest = rest.slice(word.length).trimStart()
  })
  return result
}

const botUsernames = new WeakMap<BotApi["Service"], string>()

const getBotUsername = (api: BotApi["Service"]) => {
  const cached = botUsernames.get(api)
  if (cached !== undefined) return Effect.succeed(cached)
  return Me.get().pipe(
    Effect.map(({ username }) => (username ?? "").toLowerCase()),
    Effect.tap((username) => Effect.sync(() => botUsernames.set(api, username)))
  )
}

/** Calls `Me.get` once for each client, when the first command with a username arrives. */
export const isBotUsername = (username: string): Effect.Effect<boolean, ApiError.Common, BotApi> =>
  BotApi.use((api) => Effect.map(getBotUsername(api), (botUsername) => botUsername === username.toLowerCase()))
