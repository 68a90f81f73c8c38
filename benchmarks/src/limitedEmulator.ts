/** The emulator as a server with the limits of its first argument and users to send to. It counts its 429 responses. */
import { Emulator, EmulatorOptions, EmulatorServer } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const [limits, people] = process.argv.slice(2)

const serve = Effect.gen(function* () {
  const users = yield* Effect.forEach(Array.from({ length: Number(people) }), (_, index) =>
    Effect.map(
      Effect.tap(Emulator.user(`Ann ${index}`), (person) => person.start()),
      ({ user_id }) => user_id
    )
  )
  const { url } = yield* EmulatorServer.EmulatorServer
  let [accepted, refused] = [0, 0]
  const emulator = yield* Emulator.Emulator
  yield* emulator.intercept((_, answer) =>
    Effect.tap(answer, ({ status }) =>
      Effect.sync(() => {
        if (status === 429) refused++
        else accepted++
      })
    )
  )
  process.send?.({ url, users })
  process.on("message", () => process.send?.({ accepted, refused }))
  return yield* Effect.never
})

const platform = EmulatorServer.layer().pipe(
  Layer.provideMerge(
    Emulator.layer({ token: "token", limits: { ...EmulatorOptions.platformLimits, ...JSON.parse(limits) } })
  )
)

process.on("disconnect", () => process.exit())
await Effect.runPromise(Effect.scoped(Effect.provide(serve, platform)))
