import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { bot } from "../src/echo.ts"
import { converse } from "../src/start/converse.ts"

const enter = "\r"
const ctrlC = "\u0003"
const ctrlD = "\u0004"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

/** A terminal in memory: its keyboard, and all that it has shown so far. */
const makeTerminal = () => {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true })
  const changed = Latch.makeUnsafe()
  let shown = ""
  output.on("data", (text: string) => {
    shown += text
    // Whoever waits goes on after this write, as a person does, and not in the middle of it.
    queueMicrotask(() => changed.openUnsafe())
  })
  const shows = (text: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (shown.includes(text)) return Effect.void
      changed.closeUnsafe()
      return Effect.andThen(changed.await, shows(text))
    })
  return {
    input,
    output,
    type: (keys: string) => Effect.sync(() => void input.write(keys)),
    /** Waits until this text is on the screen. */
    shows,
    screen: () => stripVTControlCharacters(shown)
  }
}

/** Opens the echo bot at a terminal and waits for its greeting. */
const sitDown = Effect.gen(function* () {
  const terminal = makeTerminal()
  yield* Effect.forkScoped(bot)
  const conversation = yield* Effect.forkScoped(Effect.scoped(converse("http://emulator.test", terminal)))
  yield* Effect.raceFirst(terminal.shows("Say something, and I say it back.\n"), Fiber.join(conversation))
  return { ...terminal, ended: Fiber.join(conversation) }
})

const saidTexts = Effect.map(Emulator.updates, (updates) =>
  updates.flatMap((update) => (update.update_type === "message_created" ? [update.message?.body?.text] : []))
)

describe("a conversation at the terminal", () => {
  // Readline edits no line on a dumb terminal, which is what the tests may be run from.
  beforeAll(() => void vi.stubEnv("TERM", "xterm"))
  afterAll(() => void vi.unstubAllEnvs())

  it.effect("begins with where the bot is and how to talk to it", () =>
    Effect.gen(function* () {
      const { screen } = yield* sitDown
      assert.include(screen(), "at http://emulator.test.\nType and press enter.")
    }).pipe(Effect.provide(platform))
  )

  it.effect("shows the answer to a typed line with its button, and what pressing that does", () =>
    Effect.gen(function* () {
      const { shows, type } = yield* sitDown
      yield* type(`good morning${enter}`)
      yield* shows("      bot  good morning  [1: Louder]\n")
      yield* type(`:1${enter}`)
      yield* shows("bot edits  GOOD MORNING!\n")
      yield* shows("bot shows  As you like, ")
      assert.deepStrictEqual(yield* saidTexts, ["good morning"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("says that there is no such button", () =>
    Effect.gen(function* () {
      const { shows, type } = yield* sitDown
      yield* type(`:1${enter}`)
      yield* shows("(the bot's last message has no button 1)\n")
      yield* type(`good morning${enter}`)
      yield* shows("[1: Louder]\n")
      yield* type(`:7${enter}`)
      yield* shows("(the bot's last message has no button 7)\n")
    }).pipe(Effect.provide(platform))
  )

  it.effect("keeps what is being typed below what the bot says meanwhile", () =>
    Effect.gen(function* () {
      const { screen, shows, type } = yield* sitDown
      yield* type(`good morning${enter}and good`)
      yield* shows("[1: Louder]\n")
      yield* type(` night${enter}`)
      yield* shows("      bot  and good night  [1: Louder]\n")
      assert.match(screen(), /\[1: Louder\]\n {6}you {2}and good/)
      assert.deepStrictEqual(yield* saidTexts, ["good morning", "and good night"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("says nothing to the bot for an empty line", () =>
    Effect.gen(function* () {
      const { screen, shows, type } = yield* sitDown
      yield* type(`${enter}  ${enter}good morning${enter}`)
      yield* shows("[1: Louder]\n")
      assert.deepStrictEqual(yield* saidTexts, ["good morning"])
      assert.notInclude(screen(), "cannot")
    }).pipe(Effect.provide(platform))
  )

  for (const [name, key] of [
    ["ctrl-c", ctrlC],
    ["ctrl-d", ctrlD]
  ] as const) {
    it.effect(`ends with ${name}`, () =>
      Effect.gen(function* () {
        const { ended, screen, type } = yield* sitDown
        yield* type(key)
        yield* ended
        assert.match(screen(), /\nBye\.\n$/)
      }).pipe(Effect.provide(platform))
    )
  }

  it.effect("ends with ctrl-c in the middle of a line, which is not said", () =>
    Effect.gen(function* () {
      const { ended, screen, type } = yield* sitDown
      yield* type(`good mor${ctrlC}`)
      yield* ended
      assert.match(screen(), /\nBye\.\n$/)
      assert.deepStrictEqual(yield* saidTexts, [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("answers what was typed right before ctrl-c, and ends", () =>
    Effect.gen(function* () {
      const { ended, screen, type } = yield* sitDown
      yield* type(`:7${enter}${enter}${ctrlC}`)
      yield* ended
      assert.match(screen(), /\(the bot's last message has no button 7\)\n\nBye\.\n$/)
    }).pipe(Effect.provide(platform))
  )
})
