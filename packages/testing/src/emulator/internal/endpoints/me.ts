import type * as Me from "@colloquy/core/endpoints/Me"
import * as Effect from "effect/Effect"
import type { Handlers } from "./call.ts"

export const me: Handlers<typeof Me> = {
  get: (_, { bot }) => Effect.sync(() => ({ ...bot.user.profile, commands: bot.commands })),

  setCommands: ({ commands }, { bot }) =>
    Effect.sync(() => {
      bot.commands = commands.map(({ description, name }) => (description == null ? { name } : { name, description }))
      return { commands: bot.commands }
    })
}
