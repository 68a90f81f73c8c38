import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import * as NodeBot from "@colloquy/node/bot/NodeBot"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as EmulatorServer from "@colloquy/testing/emulator/EmulatorServer"
import * as NodeWebhookSender from "@colloquy/testing/emulator/NodeWebhookSender"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export const token = "a-token-of-a-test"

/** The emulator on a port, with a person in a dialog with the bot, and the settings of the bot. */
export const platform = Effect.gen(function* () {
  const context = yield* Layer.build(
    EmulatorServer.layer().pipe(
      Layer.provideMerge(Emulator.layer({ token, insecureWebhooks: true, limits: false })),
      Layer.provide(NodeWebhookSender.layer())
    )
  )
  const emulator = Context.get(context, Emulator.Emulator)
  const person = yield* emulator.user({ first_name: "Anna" })
  yield* person.start()
  const BOT_BASE_URL = Context.get(context, EmulatorServer.EmulatorServer).url
  const env = { BOT_TOKEN: token, BOT_BASE_URL }
  const asBot = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(
      effect,
      NodeBot.layerClient({ token, baseUrl: BOT_BASE_URL }).pipe(Layer.provide(RateLimiter.layerMemory()))
    )
  return { asBot, emulator, env, person }
})
