import type { Message } from "@colloquy/core/Message"
import { User } from "@colloquy/core/User"
import * as Schema from "effect/Schema"

/**
 * Whether a message has only a text: nothing in it can be of an unknown type, so all of it but the sender is encoded to
 * itself.
 */
export const isPlain = ({ body, link }: Message): boolean =>
  link == null && body != null && body.attachments == null && body.markup == null

const encodeUser = Schema.encodeUnknownSync(User)

/** The profile of a user is replaced when it changes. */
const senders = new WeakMap<object, string>()

const senderText = (sender: NonNullable<Message["sender"]>): string => {
  const known = senders.get(sender)
  if (known !== undefined) return known
  const text = JSON.stringify(encodeUser(sender))
  senders.set(sender, text)
  return text
}

/** Writes a plain message as JSON without its schema, which `emulator-over-bare` and `emulator-with-page` measure. */
export const writePlain = ({ body, sender, ...rest }: Message): string => {
  const { mid, seq, text } = body!
  const from = sender == null ? "" : `,"sender":${senderText(sender)}`
  const words = text == null ? "" : `,"text":${JSON.stringify(text)}`
  return `${JSON.stringify(rest).slice(0, -1)}${from},"body":{"mid":${JSON.stringify(mid)},"seq":${seq}${words}}}`
}
