/** The buttons that lines such as `:1` press. */
import type { Message } from "@colloquy/core"
import type { Person } from "@colloquy/testing"
import { buttonsOf } from "./attachments.ts"

/** Follows what the bot does, and finds a button of the last message that was sent or edited, and has buttons. */
export const makeButtons = () => {
  const messages = new Map<string, Message.Message>()
  return {
    see: (event: Person.PersonEvent): void => {
      if (event._tag === "Removed") messages.delete(event.message_id)
      if (event._tag !== "Message" && event._tag !== "Edited") return
      const { message } = event
      const mid = message.body?.mid ?? ""
      messages.delete(mid)
      if (buttonsOf(message).length > 0) messages.set(mid, message)
    },
    /** Returns the message and the text of the button with a number, counted from 1. */
    find: (number: number): { readonly message: Message.Message; readonly button: string } | undefined => {
      const message = [...messages.values()].at(-1)
      const button = message && buttonsOf(message)[number - 1]
      return message && button !== undefined ? { message, button } : undefined
    }
  }
}
