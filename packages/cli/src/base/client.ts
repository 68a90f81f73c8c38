import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import { ChatId } from "@colloquy/core/model/Recipient"
import { UserId } from "@colloquy/core/model/User"
import * as NodeBot from "@colloquy/node/bot/NodeBot"
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type CommandFailed, invalid } from "./failure.ts"
import { textArgument } from "./flags.ts"
import { withSettings } from "./settings.ts"

/** The client of the bot. */
export const client = Layer.unwrap(
  Effect.sync(() => NodeBot.layerClientConfig().pipe(Layer.provide(RateLimiter.layerMemory())))
)

/** Provides the client of the bot with its settings. */
export const asBot = <A, E, R>(effect: Effect.Effect<A, E, R>) => withSettings(Effect.provide(effect, client))

const parserOf =
  <A>(isId: (id: unknown) => id is A, digits: RegExp, what: string) =>
  (text: string): Effect.Effect<A, CommandFailed> => {
    const id: unknown = digits.test(text) ? Number(text) : undefined
    return isId(id)
      ? Effect.succeed(id)
      : Effect.fail(invalid(`"${text}" is not the id of ${what}: use a whole number.`))
  }

export const parseChatId = parserOf(Schema.is(ChatId), /^-?\d+$/, "a chat")

export const parseUserId = parserOf(Schema.is(UserId), /^\d+$/, "a user")

/** An argument that is the URL of a webhook. */
export const urlArgument = textArgument("url", "URL of the webhook: https:// without a port").pipe(
  Argument.filter(URL.canParse, (url) => `"${url}" is not a URL: use https://host/path.`)
)
