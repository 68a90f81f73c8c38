/** A conversation with the person at the keyboard, until they press ctrl-c or ctrl-d. */
import type { Message } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { type Cause, Effect, Queue, Stream } from "effect"
import * as readline from "node:readline"
import * as dialogue from "./dialogue.ts"

/** Where a conversation takes place. Where the output is no terminal (`isTTY`), lines are read as they come. */
export interface Screen {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

const welcome = (url: string) => `The bot runs on an emulator of the platform at ${url}.
Type and press enter. :1 presses the first button of the bot's last message. Ctrl-c leaves.

`

const openTerminal = Effect.fnUntraced(function* ({ input, output }: Screen) {
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  let isOpen = true

  const open = () => {
    const terminal = readline.createInterface({ input, output, prompt: dialogue.you("") })
    terminal.on("line", (line) => Queue.offerUnsafe(lines, line))
    terminal.on("SIGINT", () => terminal.close())
    terminal.on("close", () => {
      isOpen = false
      Queue.endUnsafe(lines)
    })
    return terminal
  }

  const terminal = yield* Effect.acquireRelease(Effect.sync(open), (terminal) => Effect.sync(() => terminal.close()))

  // What is typed before ctrl-c is still answered after it, when readline refuses to prompt.
  const prompt = (keepsCursor: boolean) => (isOpen ? terminal.prompt(keepsCursor) : undefined)

  return {
    /** The lines that are typed; it ends with ctrl-c and ctrl-d. */
    lines: Stream.fromQueue(lines),
    prompt: Effect.sync(() => prompt(false)),
    /** Writes a line above the one that is being typed. */
    writeAbove: (text: string) =>
      Effect.sync(() => {
        readline.cursorTo(output, 0)
        readline.clearLine(output, 0)
        output.write(`${text}\n`)
        prompt(true)
      })
  }
})

export const converse = Effect.fnUntraced(function* (url: string, screen: Screen) {
  const write = (text: string) => Effect.sync(() => void screen.output.write(text))
  const visitor = yield* Emulator.user(process.env["USER"] ?? "You")
  let last: Message.Message | undefined

  yield* write(welcome(url))
  const terminal = yield* openTerminal(screen)

  const show = visitor.events.pipe(
    Stream.runForEach((heard) => {
      if (heard._tag === "Message" || heard._tag === "Edited") last = heard.message
      const text = dialogue.seen(heard)
      return text === undefined ? Effect.void : terminal.writeAbove(text)
    })
  )

  const press = Effect.fnUntraced(function* (place: number) {
    const button = last === undefined ? undefined : dialogue.buttonsOf(last)[place - 1]
    if (last === undefined || button === undefined) {
      return yield* terminal.writeAbove(`(the bot's last message has no button ${place})`)
    }
    yield* visitor.press(last, button)
  })

  const take = (line: string) => {
    const place = /^:(\d+)$/.exec(line.trim())?.[1]
    if (place !== undefined) return press(Number(place))
    return line.trim() === "" ? terminal.prompt : visitor.send(line)
  }

  yield* Effect.forkScoped(show)
  yield* visitor.start()
  yield* terminal.lines.pipe(
    Stream.runForEach((line) =>
      Effect.catchTag(Effect.asVoid(take(line)), "PersonError", (error) => terminal.writeAbove(error.message))
    )
  )
  yield* write("\nBye.\n")
})
