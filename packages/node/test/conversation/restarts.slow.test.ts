import * as InboxStore from "@colloquy/core/InboxStore"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { left, nothing, run, token } from "../support/flows.ts"
import { layerOf } from "../support/inboxLayers.ts"
import { databases } from "../support/sharedStores.ts"

const script = fileURLToPath(new URL("../support/flowsProcess.ts", import.meta.url))

/** A program of the bot. `stop` ends it. */
interface Program {
  readonly stop: Effect.Effect<unknown>
}

const startFiber = (store: Layer.Layer<InboxStore.InboxStore, unknown>, url: string) =>
  Effect.map(Effect.forkScoped(Effect.orDie(run(store, url)), { startImmediately: true }), (fiber): Program => ({
    stop: Fiber.interrupt(fiber)
  }))

const startProcess = (kind: string, place: string, url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, ["--conditions=source", "--no-warnings", script, kind, place, url], {
        stdio: ["pipe", "ignore", "inherit"]
      })
      const ended = once(child, "close")
      return {
        stop: Effect.promise(() => {
          child.kill("SIGKILL")
          return ended
        })
      } satisfies Program
    }),
    ({ stop }) => stop
  )

/** Plays everything that the bot can do. The program is stopped, and the next one is started, behind every line. */
const play = <E, R>(
  start: (url: string) => Effect.Effect<Program, E, R>,
  store: InboxStore.InboxStore["Service"]
): Effect.Effect<void, unknown, R | Scope.Scope> =>
  Effect.gen(function* () {
    const { url } = yield* EmulatorServer.EmulatorServer
    const ann = yield* Emulator.user("Ann")
    const chat = yield* ann.start()
    const sent = Effect.map(Emulator.messages(chat), (all) => all.filter(({ sender }) => sender?.is_bot === true))
    const texts = Effect.map(sent, (messages) => messages.map(({ body }) => body?.text))
    const expected: Array<string> = []
    let program = yield* start(url)

    /** Does something, waits until the last messages of the bot have these texts, and restarts the program. */
    const line = Effect.fnUntraced(function* (
      what: Effect.Effect<unknown, unknown, Emulator.Emulator>,
      edited: number,
      ...last: Array<string>
    ) {
      yield* what
      expected.splice(expected.length - edited, edited, ...last)
      const said = yield* Effect.repeat(Effect.delay(texts, "20 millis"), {
        until: (said) => said.length >= expected.length && said.every((text, index) => text === expected[index]),
        times: 10_000
      })
      assert.deepStrictEqual(said, expected)
      yield* program.stop
      program = yield* start(url)
    })
    const presses = (button: string) => Effect.flatMap(sent, (messages) => ann.press(messages.at(-1)!, button))

    yield* line(ann.send("/order"), 0, "Size?")
    yield* line(presses("Large"), 1, "Size?\n✓ Large", "Toppings?")
    for (const topping of ["Olives", "Ham"]) yield* presses(topping)
    yield* line(presses("Done"), 1, "Toppings?\n✓ Ham, Olives", "Address?")
    yield* line(ann.send("Street 1"), 0, "Paid 2")
    yield* line(Effect.void, 0, "l with ham and olives to Street 1")
    yield* line(ann.send("/taxi"), 0, "Waiting at the station")
    yield* line(ann.send("in"), 0, "Riding")
    yield* line(Effect.void, 0, "There")
    yield* line(ann.send("/settings"), 0, "The sound is off")
    yield* line(presses("Sound"), 1, "The sound is on")
    yield* line(presses("More"), 1, "Page 2")
    yield* line(presses("Back"), 1, "The sound is on")
    const rest = yield* Effect.repeat(Effect.delay(left(store), "20 millis"), {
      until: ({ queued, values }) => queued === 0 && values === 0,
      times: 10_000
    })
    assert.deepStrictEqual(rest, nothing)
    yield* program.stop
  }).pipe(Effect.provide(Layer.fresh(EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token }))))))

describe("conversations, scenes and menus", () => {
  it.live("go on after a restart behind every line, in memory", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      yield* play((url) => startFiber(Layer.succeed(InboxStore.InboxStore, store), url), store)
    }).pipe(Effect.scoped)
  )

  for (const { isMissing, kind, opened } of databases) {
    describe.skipIf(isMissing)(`in ${kind}`, () => {
      it.live("go on after a restart behind every line", () =>
        Effect.gen(function* () {
          const { at, store } = yield* opened
          yield* play((url) => startFiber(layerOf(kind, at), url), store)
        }).pipe(Effect.scoped)
      )

      it.live("go on after the process was killed behind every line", () =>
        Effect.gen(function* () {
          const { at, store } = yield* opened
          yield* play((url) => startProcess(kind, at, url), store)
        }).pipe(Effect.scoped)
      )
    })
  }
})
