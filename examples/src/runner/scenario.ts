/** What a scenario uses: the emulator, users whose conversation is printed, and examples that run as processes. */
import { Emulator, EmulatorServer, type Person } from "@colloquy/testing"
import { Console, Data, Effect, Queue, type Scope, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buttonsOf } from "../start/attachments.ts"
import * as transcript from "../start/transcript.ts"

/** A scripted run of one example: it starts the example, lets users talk to it, and waits for each answer. */
export type Scenario = Effect.Effect<
  void,
  Error,
  Emulator.Emulator | EmulatorServer.EmulatorServer | HttpClient.HttpClient | Scope.Scope
>

export const token = "emulator-token"

/** The token of the second bot of the emulator. */
export const secondToken = "second-token"

/** The example did not do within 30 seconds what the scenario waits for. */
export class ScenarioTimeout extends Data.TaggedError("ScenarioTimeout")<{ readonly waitedFor: string }> {
  override get message() {
    return `The scenario waited for 30 seconds for ${this.waitedFor}`
  }
}

export const withTimeout = (waitedFor: string) =>
  Effect.timeoutOrElse({
    duration: "30 seconds",
    orElse: () => new ScenarioTimeout({ waitedFor })
  })

/** A temporary folder that is removed at the end of the scenario. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-example-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A TCP port that is not in use. It is below the ports that systems choose, so the system gives it to no other program. */
export const freePort: Effect.Effect<number> = Effect.callback((resume) => {
  const port = 20_000 + Math.floor(Math.random() * 12_000)
  const server = createServer()
  server.on("error", () => resume(freePort))
  server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
})

/** The environment variables that connect a bot to the emulator. */
export const botSettings = Effect.gen(function* () {
  const { url } = yield* EmulatorServer.EmulatorServer
  return { BOT_TOKEN: token, BOT_BASE_URL: url, BOT_INBOX: join(yield* folder, "bot.sqlite") }
})

/** Creates a user of the emulator. What they do, and what they see of the bot, is printed. Default: the first bot. */
export const user = Effect.fnUntraced(function* (name: string, bot?: Person.UserRef) {
  const created = yield* Emulator.user(name)
  const person = bot === undefined ? created : created.with(bot)
  const events = yield* Queue.unbounded<Person.PersonEvent>()
  yield* Effect.forkScoped(Stream.runForEach(person.events, (event) => Queue.offer(events, event)))

  const does = <A, E>(what: string, action: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.andThen(Console.log(transcript.line(name, what)), action)

  const sees: Effect.Effect<Person.PersonEvent, ScenarioTimeout> = Effect.gen(function* () {
    const event = yield* Queue.take(events)
    const text = transcript.describe(event)
    if (text === undefined) return yield* sees
    yield* Console.log(text)
    return event
  }).pipe(withTimeout(`an event of the bot that ${name} sees`))

  /** Waits until the bot shows a message that ends with a text, and has no buttons. What it shows before is printed too. */
  const seesEnd = (text: string): Effect.Effect<void, ScenarioTimeout> =>
    Effect.flatMap(sees, (event) => {
      const isEnd =
        (event._tag === "Message" || event._tag === "Edited") &&
        buttonsOf(event.message).length === 0 &&
        event.message.body?.text?.trimEnd().endsWith(text) === true
      return isEnd ? Effect.void : seesEnd(text)
    })

  return {
    ...person,
    /** Waits for the next event of the bot, and prints it. */
    sees,
    seesEnd,
    /** Prints what the user does, and does it. */
    does,
    opens: does("(opens the bot)", person.start()),
    says: (text: string) => does(text, person.send(text))
  }
})

export { start } from "./process.ts"
