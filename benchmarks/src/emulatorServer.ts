/** The emulator as a server without limits. It sends its URL and a dialog to its parent. */
import { Emulator, EmulatorServer } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const serve = Effect.gen(function* () {
  const visitor = yield* Emulator.user("Ann")
  const { chat_id } = yield* visitor.start()
  const { url } = yield* EmulatorServer.EmulatorServer
  process.send?.({ base: url, url: `${url}/messages?chat_id=${chat_id}` })
  process.on("message", () => {
    const { system, user } = process.cpuUsage()
    process.send?.({ rss: process.memoryUsage.rss(), cpu: user + system })
  })
  return yield* Effect.never
})

const platform = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token: "token" })))

process.on("disconnect", () => process.exit())
await Effect.runPromise(Effect.provide(serve, platform))
