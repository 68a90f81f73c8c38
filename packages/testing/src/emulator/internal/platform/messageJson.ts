import * as CompiledSchema from "@colloquy/core/base/CompiledSchema"
import type { Message } from "@colloquy/core/model/Message"
import { User } from "@colloquy/core/model/User"
import * as Result from "effect/Result"

/**
 * Whether a message in a group chat or a dialog has only a text. Such a message has no part of an unknown type, so all
 * its fields except the sender are encoded unchanged.
 */
export const isPlain = ({ body, link, recipient, stat, url }: Message): boolean =>
  link == null &&
  stat == null &&
  url == null &&
  recipient.post_id == null &&
  body != null &&
  body.attachments == null &&
  body.markup == null

const encodeUser = CompiledSchema.encodeUnknownResult(User)

/** The last sender and its text. The profile of a user is replaced when it changes. */
let last: { readonly sender: Message["sender"]; readonly text: string } = { sender: undefined, text: "" }

const senderText = (sender: NonNullable<Message["sender"]>): string => {
  if (sender !== last.sender) last = { sender, text: JSON.stringify(Result.getOrThrow(encodeUser(sender))) }
  return last.text
}

const recipientText = ({ chat_id, chat_type, user_id }: Message["recipient"]): string =>
  `{"chat_id":${chat_id},"chat_type":"${chat_type}"${user_id == null ? "" : `,"user_id":${user_id}`}}`

/**
 * Writes a plain message as JSON without its schema, which `emulator-over-bare` measures. The
 * emulator made its ids and its chat type, so only its text needs `JSON.stringify`.
 */
export const writePlain = ({ body, recipient, sender, timestamp }: Message): string => {
  const { mid, seq, text } = body!
  const from = sender == null ? "" : `,"sender":${senderText(sender)}`
  const words = text == null ? "" : `,"text":${JSON.stringify(text)}`
  return `{"recipient":${recipientText(recipient)},"timestamp":${timestamp}${from},"body":{"mid":"${mid}","seq":${seq}${words}}}`
}
