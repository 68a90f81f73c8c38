/** The emulator as a server with the documented limits and a number of dialogs. It counts its 429 responses. */
import { Emulator, EmulatorOptions, EmulatorServer } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const [count] = process.argv.slice(2)

const serve = Effect.gen(function* () {
  const chats = yield* Effect.forEach(Array.from({ length: Number(count) }), () =>
    Effect.gen(function* () {
      const person = yield* Emulator.user("Ann")
      yield* person.start()
      return (yield* person.dialog).chat_id
    })
  )
  const { url } = yield* EmulatorServer.EmulatorServer
  let refused = 0
  yield* Emulator.intercept((_, answer) =>
    Effect.tap(answer, ({ status }) =>
      Effect.sync(() => {
        if (status === 429) refused++
      })
    )
  )
  process.send?.({ url, chats })
  process.on("message", () => process.send?.({ refused }))
  return yield* Effect.never
})

const platform = EmulatorServer.layer().pipe(
  Layer.provideMerge(Emulator.layer({ token: "token", limits: EmulatorOptions.platformLimits }))
)

process.on("disconnect", () => process.exit())
await Effect.runPromise(Effect.scoped(Effect.provide(serve, platform)))
