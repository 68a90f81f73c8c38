/** A program that only sends a message. */
import * as BotApi from "@colloquy/core/client/BotApi"
import * as Messages from "@colloquy/core/endpoints/Messages"
import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import { ChatId } from "@colloquy/core/model/Recipient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { answeringOffline } from "./program-offline.ts"

const bot = BotApi.layerFetch({ token: Redacted.make("token"), baseUrl: "https://api.example" }).pipe(
  Layer.provide(RateLimiter.layerMemory()),
  Layer.provide(answeringOffline)
)

const program = Messages.send({ chat_id: ChatId.make(1), text: "Hello" }).pipe(
  Effect.flatMap((message) => Effect.log(message.body?.mid)),
  Effect.provide(bot)
)

await Effect.runPromise(program)
