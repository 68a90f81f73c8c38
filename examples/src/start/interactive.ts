/** The conversation of `npm start` in a terminal. It ends with ctrl-c or ctrl-d. */
import { Me, type User } from "@colloquy/core"
import { Emulator, type Person } from "@colloquy/testing"
import { Effect, Stream } from "effect"
import { makeButtons } from "./buttons.ts"
import { openTerminal, type Streams } from "./terminal.ts"
import { styleOf, wrap } from "./style.ts"
import * as transcript from "./transcript.ts"

const welcome = (page: string) => `The bot runs on an emulator of the platform. Its page is at ${page}.
Type a text and press enter. :1 presses the first button of the last message with buttons. / and tab show commands. Ctrl-c exits.
`

/** The commands that begin with the line. The bot may publish them at any time. */
const completionsOf = (line: string) =>
  Effect.map(
    Effect.orElseSucceed(Me.get(), (): Pick<User.BotInfo, "commands"> => ({})),
    ({ commands }) => (commands ?? []).map(({ name }) => `/${name}`).filter((command) => command.startsWith(line))
  )

export const interactive = Effect.fnUntraced(function* (page: string, streams: Streams) {
  const write = (text: string) => Effect.sync(() => void streams.output.write(text))
  const style = () => styleOf(streams.output)
  const person = yield* Emulator.user(process.env["USER"] ?? "You")
  const buttons = makeButtons()

  yield* write(`${wrap(style(), 0, welcome(page))}\n`)
  const terminal = yield* openTerminal(streams, completionsOf, () => transcript.you("", style()))

  const show = (event: Person.PersonEvent) => {
    buttons.see(event)
    const action = transcript.describeAction(event, style())
    if (action !== undefined) return terminal.writeUntilNext(action)
    const text = transcript.describe(event, style())
    return text === undefined ? Effect.void : terminal.writeAbove(text)
  }

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

  yield* terminal.prompt
  yield* Effect.forkScoped(Stream.runForEach(person.events, show))
  yield* person.start()
  yield* terminal.lines.pipe(
    Stream.runForEach((line) =>
      Effect.catchTag(Effect.asVoid(handleLine(line)), "PersonError", (error) => terminal.writeAbove(error.message))
    )
  )
  yield* write("\nBye.\n")
})
