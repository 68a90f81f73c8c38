import { Chats, LongPolling, Me, Messages } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { bot } from "../../src/echo.ts"
import { interactive } from "../../src/start/interactive.ts"

const enter = "\r"
const ctrlC = "\u0003"
const ctrlD = "\u0004"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

/** A terminal in memory. */
const makeTerminal = () => {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true, columns: 60 })
  const changed = Latch.makeUnsafe()
  let shown = ""
  output.on("data", (text: string) => {
    shown += text
    // Waiting effects continue after the current write.
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
    /** Waits until the terminal shows the text. */
    shows,
    screen: () => stripVTControlCharacters(shown)
  }
}

/** Starts a conversation with the echo bot, and waits for its greeting. */
const startConversation = Effect.gen(function* () {
  const terminal = makeTerminal()
  yield* Effect.forkScoped(bot)
  const conversation = yield* Effect.forkScoped(Effect.scoped(interactive("http://emulator.test", terminal)))
  yield* Effect.raceFirst(terminal.shows("Send me a text, and I will repeat it.\n"), Fiber.join(conversation))
  return { ...terminal, ended: Fiber.join(conversation) }
})

const sentTexts = Effect.map(Emulator.updates, (updates) =>
  updates.flatMap((update) => (update.update_type === "message_created" ? [update.message?.body?.text] : []))
)

describe("interactive", () => {
  // Readline does not edit lines on a dumb terminal, in which the tests may run.
  beforeAll(() => void vi.stubEnv("TERM", "xterm"))
  afterAll(() => void vi.unstubAllEnvs())

  it.effect("shows the URL of the emulator and how to use the terminal", () =>
    Effect.gen(function* () {
      const { screen } = yield* startConversation
      assert.include(screen(), "at\nhttp://emulator.test.\nType a text and press enter.")
    }).pipe(Effect.provide(platform))
  )

  it.effect("sends a line, shows the answer with its button, and presses the button", () =>
    Effect.gen(function* () {
      const { shows, type } = yield* startConversation
      yield* type(`good morning${enter}`)
      yield* shows("      bot  good morning\n           [1: Louder]\n")
      yield* type(`:1${enter}`)
      yield* shows("bot edits  GOOD MORNING!\n")
      yield* shows("bot shows  As you like, ")
      assert.deepStrictEqual(yield* sentTexts, ["good morning"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("shows an error for a button that does not exist", () =>
    Effect.gen(function* () {
      const { shows, type } = yield* startConversation
      yield* type(`:1${enter}`)
      yield* shows("(the last message with buttons has no button 1)\n")
      yield* type(`good morning${enter}`)
      yield* shows("[1: Louder]\n")
      yield* type(`:7${enter}`)
      yield* shows("(the last message with buttons has no button 7)\n")
    }).pipe(Effect.provide(platform))
  )

  it.effect("keeps the line that the user is typing below a message that arrives", () =>
    Effect.gen(function* () {
      const { screen, shows, type } = yield* startConversation
      yield* type(`good morning${enter}and good`)
      yield* shows("[1: Louder]\n")
      yield* type(` night${enter}`)
      yield* shows("      bot  and good night\n           [1: Louder]\n")
      assert.match(screen(), /\[1: Louder\]\n {6}you {2}and good/)
      assert.deepStrictEqual(yield* sentTexts, ["good morning", "and good night"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("shows that the bot is typing, until its next message", () =>
    Effect.gen(function* () {
      const { screen, shows } = yield* startConversation
      const chat_id = yield* Effect.map(
        Emulator.updates,
        (updates) => updates.flatMap((update) => (update.update_type === "bot_started" ? [update.chat_id] : []))[0]!
      )
      yield* Chats.sendAction({ chat_id, action: "typing_on" })
      yield* shows("bot  is typing…\n")
      yield* Messages.send({ chat_id, text: "Done" })
      // The message begins one row above the prompt, where the action was.
      yield* shows("\u001b[1A\u001b[1G\u001b[0J      bot  Done\n")
      assert.include(screen(), "is typing…")
    }).pipe(Effect.provide(platform))
  )

  it.effect("completes the commands of the bot after a slash", () =>
    Effect.gen(function* () {
      const { shows, type } = yield* startConversation
      yield* Me.setCommands({ commands: [{ name: "start" }, { name: "status" }, { name: "help" }] })
      yield* type("/\t")
      yield* type("\t")
      yield* shows("/help")
      yield* shows("/status")
      // Readline takes a tab within a pasted text for a part of the text, and reads on when a completion is found.
      yield* type("h\t")
      yield* type(enter)
      yield* shows("bot  /help\n")
      assert.deepStrictEqual(yield* sentTexts, ["/help"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("does not send an empty line", () =>
    Effect.gen(function* () {
      const { screen, shows, type } = yield* startConversation
      yield* type(`${enter}  ${enter}good morning${enter}`)
      yield* shows("[1: Louder]\n")
      assert.deepStrictEqual(yield* sentTexts, ["good morning"])
      assert.notInclude(screen(), "cannot")
    }).pipe(Effect.provide(platform))
  )

  for (const [name, key] of [
    ["ctrl-c", ctrlC],
    ["ctrl-d", ctrlD]
  ] as const) {
    it.effect(`ends with ${name}`, () =>
      Effect.gen(function* () {
        const { ended, screen, type } = yield* startConversation
        yield* type(key)
        yield* ended
        assert.match(screen(), /\nBye\.\n$/)
      }).pipe(Effect.provide(platform))
    )
  }

  it.effect("ends with ctrl-c in a line, and does not send the line", () =>
    Effect.gen(function* () {
      const { ended, screen, type } = yield* startConversation
      yield* type(`good mor${ctrlC}`)
      yield* ended
      assert.match(screen(), /\nBye\.\n$/)
      assert.deepStrictEqual(yield* sentTexts, [])
    }).pipe(Effect.provide(platform))
  )

  it.effect("handles the lines before ctrl-c, and ends", () =>
    Effect.gen(function* () {
      const { ended, screen, type } = yield* startConversation
      yield* type(`:7${enter}${enter}${ctrlC}`)
      yield* ended
      assert.match(screen(), /\(the last message with buttons has no button 7\)\n\nBye\.\n$/)
    }).pipe(Effect.provide(platform))
  )
})
