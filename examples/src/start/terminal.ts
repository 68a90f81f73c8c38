/** A terminal in which messages arrive above the line that the user is typing. */
import { type Cause, Effect, Queue, Stream } from "effect"
import * as readline from "node:readline"
import type { Output } from "./style.ts"

/** The streams of a terminal. If `output.isTTY` is not `true`, lines are read without editing. */
export interface Streams {
  readonly input: NodeJS.ReadableStream
  readonly output: Output
}

/** Opens a terminal. `completionsOf` returns the lines that can follow the typed line, which the tab key shows. */
export const openTerminal = Effect.fnUntraced(function* <R>(
  { input, output }: Streams,
  completionsOf: (line: string) => Effect.Effect<ReadonlyArray<string>, never, R>,
  prompt: () => string
) {
  const run = Effect.runForkWith(yield* Effect.context<R>())
  const lines = yield* Queue.unbounded<string, Cause.Done>()
  let isOpen = true
  /** How many lines above the prompt the next message replaces. */
  let replaced = 0

  const complete = (line: string, done: (error: null, completions: readline.CompleterResult) => void): void => {
    const completions = line.startsWith("/") ? completionsOf(line) : Effect.succeed([])
    run(Effect.map(completions, (found) => done(null, [[...found], line])))
  }

  const open = () => {
    const terminal = readline.createInterface({ input, output, prompt: prompt(), completer: complete })
    terminal.on("line", (line) => {
      replaced = 0
      Queue.offerUnsafe(lines, line)
    })
    terminal.on("SIGINT", () => terminal.close())
    terminal.on("close", () => {
      isOpen = false
      Queue.endUnsafe(lines)
    })
    return terminal
  }

  const terminal = yield* Effect.acquireRelease(Effect.sync(open), (terminal) => Effect.sync(() => terminal.close()))

  // The answer to a line can arrive after ctrl-c, when readline no longer accepts a prompt.
  const showPrompt = (keepsCursor: boolean) => {
    if (!isOpen) return
    terminal.setPrompt(prompt())
    terminal.prompt(keepsCursor)
  }

  const write = (text: string) => {
    // The typed line can have several rows.
    readline.moveCursor(output, 0, -(isOpen ? terminal.getCursorPos().rows : 0) - replaced)
    readline.cursorTo(output, 0)
    readline.clearScreenDown(output)
    output.write(`${text}\n`)
    showPrompt(true)
  }

  return {
    /** The lines that the user types. The stream ends with ctrl-c or ctrl-d. */
    lines: Stream.fromQueue(lines),
    prompt: Effect.sync(() => showPrompt(false)),
    /** Writes lines above the line that the user is typing. */
    writeAbove: (text: string) =>
      Effect.sync(() => {
        write(text)
        replaced = 0
      }),
    /** As `writeAbove`, until the next lines replace these. */
    writeUntilNext: (text: string) =>
      Effect.sync(() => {
        write(text)
        replaced = text.split("\n").length
      })
  }
})
