/** The conversation of `npm start` in a terminal. It ends with ctrl-c or ctrl-d. */
import { Emulator } from "@colloquy/testing"
import { type Cause, Effect, Queue, Stream } from "effect"
import * as readline from "node:readline"
import { makeButtons } from "./buttons.ts"
import * as transcript from "./transcript.ts"

/** The streams of a terminal. If `output.isTTY` is not `true`, lines are read without editing. */
export interface Streams {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

const welcome = (page: string) => `The bot runs on an emulator of the platform. Its page is at ${page}.
Type a text and press enter. :1 presses the first button of the last message with buttons. Ctrl-c exits.

`

const openTerminal = Effect.fnUntraced(function* ({ input, output }: Streams) {
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  let isOpen = true

  const open = () => {
    const terminal = readline.createInterface({ input, output, prompt: transcript.you("") })
    terminal.on("line", (line) => Queue.offerUnsafe(lines, line))
    terminal.on("SIGINT", () => terminal.close())
    terminal.on("close", () => {
      isOpen = false
      Queue.endUnsafe(lines)
    })
    return terminal
  }

  const terminal = yield* Effect.acquireRelease(Effect.sync(open), (terminal) => Effect.sync(() => terminal.close()))

  // The answer to a line can arrive after ctrl-c, when readline no longer accepts a prompt.
  const prompt = (keepsCursor: boolean) => (isOpen ? terminal.prompt(keepsCursor) : undefined)

  return {
    /** The lines that the user types. The stream ends with ctrl-c or ctrl-d. */
    lines: Stream.fromQueue(lines),
    prompt: Effect.sync(() => prompt(false)),
    /** Writes a line above the line that the user is typing. */
    writeAbove: (text: string) =>
      Effect.sync(() => {
        readline.cursorTo(output, 0)
        readline.clearLine(output, 0)
        output.write(`${text}\n`)
        prompt(true)
      })
  }
})

export const interactive = Effect.fnUntraced(function* (page: string, streams: Streams) {
  const write = (text: string) => Effect.sync(() => void streams.output.write(text))
  const person = yield* Emulator.user(process.env["USER"] ?? "You")
  const buttons = makeButtons()

  yield* write(welcome(page))
  const terminal = yield* openTerminal(streams)

  const show = person.events.pipe(
    Stream.runForEach((event) => {
      buttons.see(event)
      const text = transcript.describe(event)
      return text === undefined ? Effect.void : terminal.writeAbove(text)
    })
  )

  const press = Effect.fnUntraced(function* (number: number) {
    const found = buttons.find(number)
    if (found === undefined) return yield* terminal.writeAbove(transcript.noButton(number))
    yield* person.press(found.message, found.button)
  })

  const handleLine = (line: string) => {
    const number = transcript.buttonNumberOf(line)
    if (number !== undefined) return press(number)
    return line.trim() === "" ? terminal.prompt : person.send(line)
  }

  yield* Effect.forkScoped(show)
  yield* person.start()
  yield* terminal.lines.pipe(
    Stream.runForEach((line) =>
      Effect.catchTag(Effect.asVoid(handleLine(line)), "PersonError", (error) => terminal.writeAbove(error.message))
    )
  )
  yield* write("\nBye.\n")
})
