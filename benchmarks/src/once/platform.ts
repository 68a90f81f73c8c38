/**
 * The emulator as a server without limits, with group chats: `platform.ts CHATS member|administrator`. It sends its URL and
 * the ids of the chats to its parent. It answers `count` with the number of different messages that it has received, and
 * `texts` with what stands in each chat.
 */
import { Emulator, EmulatorServer } from "@colloquy/testing"
import type { ChatRef } from "@colloquy/testing/emulator/Person"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { endWithParent, onParentMessage, tellParent } from "../processes.ts"

export type Question = { readonly ask: "count" | "texts" }

export type Answer =
  | { readonly is: "ready"; readonly url: string; readonly chats: ReadonlyArray<number> }
  | { readonly is: "count"; readonly messages: number }
  | { readonly is: "texts"; readonly texts: ReadonlyArray<ReadonlyArray<string>> }

const [count, role] = process.argv.slice(2)

const serve = Effect.gen(function* () {
  const emulator = yield* Emulator.Emulator
  const person = yield* Emulator.user("Ann")
  const chats = yield* Effect.forEach(Array.from({ length: Number(count) }), (_, index) =>
    Emulator.chat({ title: `Chat ${index}`, members: [person], bot: { admin: role === "administrator" } })
  )
  const { url } = yield* EmulatorServer.EmulatorServer
  let messages = 0
  yield* emulator.intercept((request, response) =>
    Effect.tap(response, ({ status }) =>
      Effect.sync(() => {
        if (request.method === "POST" && status === 200) messages++
      })
    )
  )
  const textsOf = (chat: ChatRef) =>
    Effect.map(emulator.messages(chat), (messages) => messages.map(({ body }) => body?.text ?? ""))
  const services = yield* Effect.context<Emulator.Emulator>()
  onParentMessage<Question>(({ ask }) => {
    if (ask === "count") return tellParent({ is: "count", messages } satisfies Answer)
    Effect.runForkWith(services)(
      Effect.map(Effect.forEach(chats, textsOf), (texts) => tellParent({ is: "texts", texts } satisfies Answer))
    )
  })
  tellParent({ is: "ready", url, chats: chats.map(({ chat_id }) => chat_id) } satisfies Answer)
  return yield* Effect.never
})

endWithParent()

await Effect.runPromise(
  Effect.scoped(
    Effect.provide(serve, EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token: "token" }))))
  )
)
