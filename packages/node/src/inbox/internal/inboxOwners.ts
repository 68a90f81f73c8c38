import * as Settings from "@colloquy/core/client/Settings"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { resolve } from "node:path"
import { inMemory } from "../../base/internal/sqlite/database.ts"

/** The bots of this process that use an inbox, by its file and prefix. */
const owners = new Map<string, Array<Redacted.Redacted>>()

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
  const key = `${resolve(filename)}\n${prefix}`
  const acquire = Effect.suspend(() => {
    const tokens = owners.get(key) ?? []
    if (tokens.some((other) => Redacted.value(other) !== Redacted.value(token))) {
      return Effect.fail(conflict(filename, prefix))
    }
    owners.set(key, [...tokens, token])
    return Effect.void
  })
  const release = Effect.sync(() => {
    const [, ...others] = owners.get(key) ?? []
    if (others.length > 0) owners.set(key, others)
    else owners.delete(key)
  })
  return Effect.acquireRelease(acquire, () => release)
}
