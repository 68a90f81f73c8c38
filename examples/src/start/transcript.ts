/** The lines of text that a conversation is printed as. */
import type { Message } from "@colloquy/core"
import type { Person } from "@colloquy/testing"

const width = 9

/** Returns the line for what someone wrote or did. */
export const line = (who: string, text: string): string =>
  `${who.padStart(width)}  ${text.replaceAll("\n", `\n${" ".repeat(width + 2)}`)}`

/** Returns the texts of the buttons of a message, row by row. */
export const buttonsOf = (message: Message.Message): ReadonlyArray<string> =>
  (message.body?.attachments ?? []).flatMap((attachment) =>
    attachment.type === "inline_keyboard"
      ? attachment.payload.buttons.flat().flatMap((button) => (button.type === "unknown" ? [] : [button.text]))
      : []
  )

/** Returns the number of a button that a line presses, such as `:1`, or `undefined` for a text. */
export const buttonNumberOf = (line: string): number | undefined => {
  const [, number] = /^:(\d+)$/.exec(line.trim()) ?? []
  return number === undefined ? undefined : Number(number)
}

export const noButton = (number: number): string => `(the last message with buttons has no button ${number})`

const withButtons = (message: Message.Message): string => {
  const text = message.body?.text ?? ""
  const attachments = (message.body?.attachments ?? []).filter(({ type }) => type !== "inline_keyboard")
  const buttons = buttonsOf(message).map((button, index) => `[${index + 1}: ${button}]`)
  return [...(text === "" ? [] : [text]), ...attachments.map(({ type }) => `(${type})`), ...buttons].join("  ")
}

export const you = (text: string): string => line("you", text)

/** The line for a bot that does not answer. */
export const noAnswer: string = line("bot", "(does not answer)")

/** Returns the line for an event of the bot, or `undefined` if the event has nothing to show. */
export const describe = (event: Person.PersonEvent): string | undefined => {
  switch (event._tag) {
    case "Message":
      return line("bot", withButtons(event.message))
    case "Edited":
      return line("bot edits", withButtons(event.message))
    case "Notification":
      return line("bot shows", event.text)
    case "Comment":
      return line("bot", event.comment.body.text ?? "")
    case "Removed":
      return line("bot", "(removed a message)")
    default:
      return undefined
  }
}
