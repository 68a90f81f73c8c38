/** A bot on the inbox FILE whose handler never ends, and that its parent kills: `node inboxHolder.ts FILE`. */
import { Bot, Inbox, Updates } from "@colloquy/core"
import { NodeInbox } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const [filename = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const inbox = yield* Inbox.Inbox
  const source = Effect.orDie(inbox.receive([{ decoded: Result.succeed(Fixtures.botStarted()) }]))
  yield* Bot.run(() => Effect.andThen(Console.log("handling"), Effect.never)).pipe(
    Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.andThen(source, Effect.never) }))
  )
})

await Effect.runPromise(Effect.provide(program, NodeInbox.layer({ filename, leaseDuration: "1 hour" })))
