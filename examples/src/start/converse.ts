/** A conversation with the person at the keyboard, until they press ctrl-c or ctrl-d. */
import type { Message } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { Console, Effect, Queue, Stream } from "effect"
import * as readline from "node:readline"
import * as dialogue from "./dialogue.ts"

const welcome = (url: string) => `An echo bot talks here, on an emulator of the platform at ${url}.
Type and press enter. :1 presses the first button of the bot's last message. Ctrl-c leaves.
`

const openTerminal = Effect.acquireRelease(
  Effect.sync(() => readline.createInterface({ input: process.stdin, output: process.stdout, prompt: "      you  " })),
  (terminal) => Effect.sync(() => terminal.close())
)

/** The lines that are typed; it ends with ctrl-c and ctrl-d. */
const linesOf = (terminal: readline.Interface) =>
  Stream.callback<string>((queue) =>
    Effect.sync(() => {
      terminal.on("line", (line) => Queue.offerUnsafe(queue, line))
      terminal.on("SIGINT", () => terminal.close())
      terminal.on("close", () => Queue.endUnsafe(queue))
    })
  )

/** Writes a line above the one that is being typed. */
const writeAbove = (terminal: readline.Interface, text: string) =>
  Effect.sync(() => {
    readline.cursorTo(process.stdout, 0)
    readline.clearLine(process.stdout, 0)
    process.stdout.write(`${text}\n`)
    terminal.prompt(true)
  })

export const converse = Effect.fnUntraced(function* (url: string) {
  const visitor = yield* Emulator.user(process.env["USER"] ?? "You")
  const terminal = yield* openTerminal
  let last: Message.Message | undefined

  const show = visitor.hears.pipe(
    Stream.runForEach((heard) => {
      if (heard._tag === "Message" || heard._tag === "Edited") last = heard.message
      const text = dialogue.seen(heard)
      return text === undefined ? Effect.void : writeAbove(terminal, text)
    })
  )

  const press = Effect.fnUntraced(function* (place: number) {
    const button = last === undefined ? undefined : dialogue.buttonsOf(last)[place - 1]
    if (last === undefined || button === undefined) {
      return yield* writeAbove(terminal, `(the bot's last message has no button ${place})`)
    }
    yield* visitor.press(last, button)
  })

  const take = (line: string) => {
    const place = /^:(\d+)$/.exec(line.trim())?.[1]
    if (place !== undefined) return press(Number(place))
    return line.trim() === "" ? Effect.sync(() => terminal.prompt()) : visitor.say(line)
  }

  yield* Console.log(welcome(url))
  yield* Effect.forkScoped(show)
  yield* visitor.start()
  yield* linesOf(terminal).pipe(
    Stream.runForEach((line) =>
      Effect.catchTag(Effect.asVoid(take(line)), "CannotDo", (error) => writeAbove(terminal, error.message))
    )
  )
  yield* Console.log("\nBye.")
})
