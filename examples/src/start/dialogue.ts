/** A conversation as lines of text. */
import type { Message } from "@colloquy/core"
import type { Person } from "@colloquy/testing"

const width = 9

/** What somebody says or does. */
export const line = (who: string, text: string): string => `${who.padStart(width)}  ${text}`

/** The buttons under a message, in reading order. */
export const buttonsOf = (message: Message.Message): ReadonlyArray<string> =>
  (message.body?.attachments ?? []).flatMap((attachment) =>
    attachment.type === "inline_keyboard"
      ? attachment.payload.buttons.flat().flatMap((button) => (button.type === "unknown" ? [] : [button.text]))
      : []
  )

const withButtons = (message: Message.Message): string => {
  const text = message.body?.text ?? ""
  const buttons = buttonsOf(message).map((button, index) => `[${index + 1}: ${button}]`)
  return [text, ...buttons].join("  ")
}

export const you = (text: string): string => line("you", text)

/** The bot does nothing that can be seen. */
export const silence: string = line("bot", "(is silent)")

/** What a person sees of the bot, where there is something to see. */
export const seen = (heard: Person.PersonEvent): string | undefined => {
  switch (heard._tag) {
    case "Message":
      return line("bot", withButtons(heard.message))
    case "Edited":
      return line("bot edits", withButtons(heard.message))
    case "Notification":
      return line("bot shows", heard.text)
    case "Comment":
      return line("bot", heard.comment.body.text ?? "")
    case "Removed":
      return line("bot", "(removed a message)")
    default:
      return undefined
  }
}
