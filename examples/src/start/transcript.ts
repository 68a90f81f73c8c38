/** The lines of text that a conversation is printed as. */
import type { Message } from "@colloquy/core"
import type { Person } from "@colloquy/testing"
import { describeAttachments, keyboardOf } from "./attachments.ts"
import { format, formatMarkup, plain, type Style, wrap } from "./style.ts"

const width = 9

/** Returns the lines for what someone wrote or did. */
export const line = (who: string, text: string, style: Style = plain): string =>
  `${format(style, [who === "you" ? "green" : "cyan", "bold"], who.padStart(width))}  ${wrap(style, width + 2, text)}`

/** Returns the number of a button that a line presses, such as `:1`, or `undefined` for a text. */
export const buttonNumberOf = (line: string): number | undefined => {
  const [, number] = /^:(\d+)$/.exec(line.trim()) ?? []
  return number === undefined ? undefined : Number(number)
}

export const noButton = (number: number): string => `(the last message with buttons has no button ${number})`

/** The rows of a keyboard, with the numbers that press the buttons. */
const rowsOf = (message: Message.Message, style: Style): ReadonlyArray<string> => {
  let number = 0
  return keyboardOf(message).map((row) =>
    row.map((button) => format(style, ["blue"], `[${++number}: ${button}]`)).join("  ")
  )
}

/** The text of a message, then its attachments, then a line for each row of its keyboard. */
const contentOf = (message: Message.Message, style: Style): string => {
  const { markup, text } = message.body ?? {}
  const forwarded = message.link?.type === "forward" ? `(forwards) ${message.link.message?.text ?? ""}` : ""
  const others = describeAttachments(message).join("  ")
  const parts = [formatMarkup(style, text ?? "", markup), forwarded, others, ...rowsOf(message, style)]
  return parts.filter((part) => part !== "").join("\n")
}

export const you = (text: string, style: Style = plain): string => line("you", text, style)

/** The line for a bot that does not answer. */
export const noAnswer: string = line("bot", "(does not answer)")

const actions: Readonly<Partial<Record<string, string>>> = {
  typing_on: "is typing…",
  sending_photo: "is sending a photo…",
  sending_video: "is sending a video…",
  sending_audio: "is sending an audio file…",
  sending_file: "is sending a file…"
}

/** Returns the line for what the bot is doing, which is shown until its next event. */
export const describeAction = (event: Person.PersonEvent, style: Style): string | undefined => {
  const text = event._tag === "Action" ? actions[event.action] : undefined
  return text === undefined ? undefined : line("bot", format(style, ["dim"], text), style)
}

/** Returns the lines for an event of the bot, or `undefined` if the event has nothing to show. */
export const describe = (event: Person.PersonEvent, style: Style = plain): string | undefined => {
  switch (event._tag) {
    case "Message":
      return line("bot", contentOf(event.message, style), style)
    case "Edited":
      return line("bot edits", contentOf(event.message, style), style)
    case "Notification":
      return line("bot shows", event.text, style)
    case "Comment":
      return line("bot", event.comment.body.text ?? "", style)
    case "Removed":
      return line("bot", "(removed a message)", style)
    default:
      return undefined
  }
}
