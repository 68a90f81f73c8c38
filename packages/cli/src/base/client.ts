import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import { ChatId } from "@colloquy/core/model/Recipient"
import { UserId } from "@colloquy/core/model/User"
import * as NodeBot from "@colloquy/node/bot/NodeBot"
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type CommandFailed, invalid } from "./failure.ts"
import { withSettings } from "./settings.ts"

const bot = Layer.unwrap(Effect.sync(() => NodeBot.layerClientConfig().pipe(Layer.provide(RateLimiter.layerMemory()))))

/** Provides the client of the bot with its settings. */
export const asBot = <A, E, R>(effect: Effect.Effect<A, E, R>) => withSettings(Effect.provide(effect, bot))

const isChatId = Schema.is(ChatId)

const isUserId = Schema.is(UserId)

export const parseChatId = (text: string): Effect.Effect<ChatId, CommandFailed> => {
  const id: unknown = /^-?\d+$/.test(text) ? Number(text) : undefined
  return isChatId(id)
    ? Effect.succeed(id)
    : Effect.fail(invalid(`"${text}" is not the id of a chat: use a whole number.`))
}

export const parseUserId = (text: string): Effect.Effect<UserId, CommandFailed> => {
  const id: unknown = /^\d+$/.test(text) ? Number(text) : undefined
  return isUserId(id)
    ? Effect.succeed(id)
    : Effect.fail(invalid(`"${text}" is not the id of a user: use a whole number.`))
}

/** An argument that is the URL of a webhook. */
export const urlArgument = Argument.String("url").pipe(
  Argument.filter(URL.canParse, (url) => `"${url}" is not a URL: use https://host/path.`),
  Argument.withDescription("URL of the webhook: https:// without a port")
)
