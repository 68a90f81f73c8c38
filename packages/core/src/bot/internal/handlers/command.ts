import * as Effect from "effect/Effect"
import type * as ApiError from "../../../client/ApiError.ts"
import { BotApi } from "../../../client/BotApi.ts"
import * as Me from "../../../endpoints/Me.ts"

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
