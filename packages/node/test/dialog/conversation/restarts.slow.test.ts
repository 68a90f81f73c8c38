import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { left, nothing, token } from "../../support/flows.ts"
import { databases } from "../../support/sharedStores.ts"

const script = fileURLToPath(new URL("../../support/flowsProcess.ts", import.meta.url))

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
      }
    }),
    ({ stop }) => stop
  )

/** Plays everything that the bot can do. Its process is killed in each of the flows, and the next one is started. */
const play = (kind: string, place: string, store: InboxStore.InboxStore["Service"]) =>
  Effect.gen(function* () {
    const { url } = yield* EmulatorServer.EmulatorServer
    const ann = yield* Emulator.user("Ann")
    const chat = yield* ann.start()
    const sent = Effect.map(Emulator.messages(chat), (all) => all.filter(({ sender }) => sender?.is_bot === true))
    const texts = Effect.map(sent, (messages) => messages.map(({ body }) => body?.text))
    const expected: Array<string> = []
    let program = yield* startProcess(kind, place, url)

    /** Does something, and waits until the last messages of the bot have these texts. */
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
    })
    const restart = Effect.gen(function* () {
      yield* program.stop
      program = yield* startProcess(kind, place, url)
    })
    const presses = (button: string) => Effect.flatMap(sent, (messages) => ann.press(messages.at(-1)!, button))

    yield* line(ann.send("/order"), 0, "Size?")
    yield* line(presses("Large"), 1, "Size?\n✓ Large", "Toppings?")
    yield* restart
    for (const topping of ["Olives", "Ham"]) yield* presses(topping)
    yield* line(presses("Done"), 1, "Toppings?\n✓ Ham, Olives", "Address?")
    yield* line(ann.send("Street 1"), 0, "Paid 2")
    yield* restart
    yield* line(Effect.void, 0, "l with ham and olives to Street 1")
    yield* line(ann.send("/taxi"), 0, "Waiting at the station")
    yield* restart
    yield* line(ann.send("in"), 0, "Riding")
    yield* line(Effect.void, 0, "There")
    yield* line(ann.send("/settings"), 0, "The sound is off")
    yield* line(presses("Sound"), 1, "The sound is on")
    yield* line(presses("More"), 1, "Page 2")
    yield* restart
    yield* line(presses("Back"), 1, "The sound is on")
    const rest = yield* Effect.repeat(Effect.delay(left(store), "20 millis"), {
      until: ({ queued, values }) => queued === 0 && values === 0,
      times: 10_000
    })
    assert.deepStrictEqual(rest, nothing)
    yield* program.stop
  }).pipe(Effect.provide(Layer.fresh(EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token }))))))

describe("conversations, scenes and menus", () => {
  for (const { isMissing, kind, opened } of databases) {
    describe.skipIf(isMissing)(`in ${kind}`, () => {
      it.live("go on after their process was killed", () =>
        Effect.gen(function* () {
          const { at, store } = yield* opened
          yield* play(kind, at, store)
        }).pipe(Effect.scoped)
      )
    })
  }
})
