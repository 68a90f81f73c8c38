import * as Settings from "@colloquy/core/client/Settings"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { resolve } from "node:path"
import { inMemory } from "../../base/internal/sqlite/database.ts"

/** The bots of this process, with the file and the prefix of their inboxes. */
const bots = new Set<{ readonly inbox: string; readonly token: Redacted.Redacted }>()

const conflict = (filename: string, prefix: string) =>
  new Settings.InvalidSettings({
    problems: [
      {
        setting: "inbox.prefix",
        problem: `must be another one for each bot of a process: another bot uses ${filename} with the prefix ${prefix}`
      }
    ]
  })

/**
 * Registers a bot as a user of its inbox until the scope closes. Fails if a bot with another token uses the same inbox.
 * In a shared inbox, each bot would handle the updates of the other bot, and one bot would miss messages of shared
 * chats.
 */
export const register = (options: {
  readonly token: Redacted.Redacted
  readonly filename: string | undefined
  readonly prefix: string | undefined
}): Effect.Effect<void, Settings.InvalidSettings, Scope.Scope> => {
  const { filename = "./colloquy.sqlite", prefix = "colloquy", token } = options
  if (inMemory(filename)) return Effect.void
  const acquire = Effect.suspend(() => {
    const bot = { inbox: `${resolve(filename)}\n${prefix}`, token }
    for (const other of bots) {
      const isOther = Redacted.value(other.token) !== Redacted.value(token)
      if (other.inbox === bot.inbox && isOther) return Effect.fail(conflict(filename, prefix))
    }
    bots.add(bot)
    return Effect.succeed(bot)
  })
  return Effect.asVoid(Effect.acquireRelease(acquire, (bot) => Effect.sync(() => bots.delete(bot))))
}
