/** What a scene has: the emulator, programs to start against it, and people whose talk is printed. */
import { Emulator, EmulatorServer, type Person } from "@colloquy/testing"
import { Console, Data, Effect, Queue, type Scope, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as dialogue from "../start/dialogue.ts"

/** An example and the people who use it. It ends when they have seen what there is to see. */
export type Scene = Effect.Effect<
  void,
  Error,
  Emulator.Emulator | EmulatorServer.EmulatorServer | HttpClient.HttpClient | Scope.Scope
>

export const token = "emulator-token"

/** The bot did not do in time what the scene waits for. */
export class Silence extends Data.TaggedError("Silence")<{ readonly waitedFor: string }> {
  override get message() {
    return `Nothing came within half a minute: ${this.waitedFor}`
  }
}

export const inTime = (waitedFor: string) =>
  Effect.timeoutOrElse({
    duration: "30 seconds",
    orElse: () => new Silence({ waitedFor })
  })

/** A folder that is removed at the end. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-example-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A port that is free just now. */
export const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** The settings by which any bot finds the emulator. */
export const bot = Effect.gen(function* () {
  const { url } = yield* EmulatorServer.EmulatorServer
  return { BOT_TOKEN: token, BOT_BASE_URL: url, BOT_INBOX: join(yield* folder, "bot.sqlite") }
})

/** Somebody whose doings, and what they see of the bot, are printed. */
export const person = Effect.fnUntraced(function* (name: string) {
  const person = yield* Emulator.user(name)
  const heard = yield* Queue.unbounded<Person.PersonEvent>()
  yield* Effect.forkScoped(Stream.runForEach(person.events, (next) => Queue.offer(heard, next)))

  const does = <A, E>(what: string, doing: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.andThen(Console.log(dialogue.line(name, what)), doing)

  const sees: Effect.Effect<Person.PersonEvent, Silence> = Effect.gen(function* () {
    const next = yield* Queue.take(heard)
    const text = dialogue.seen(next)
    if (text === undefined) return yield* sees
    yield* Console.log(text)
    return next
  }).pipe(inTime(`what ${name} sees of the bot`))

  return {
    ...person,
    /** Waits for what the bot does next that can be seen, and prints it. */
    sees,
    does,
    opens: does("(opens the bot)", person.start()),
    says: (text: string) => does(text, person.send(text))
  }
})

export { start } from "./program.ts"
