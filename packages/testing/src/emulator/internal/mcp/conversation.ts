import * as Schema from "effect/Schema"
import * as declarations from "../control/declarations.ts"
import { ofCall, type Tool } from "./tool.ts"

const attachments = [
  Schema.optional(Schema.NullOr(Schema.Array(Schema.Record(Schema.String, Schema.Unknown)))),
  'Attachments in the format of received messages, such as [{"type":"image","payload":{"url":"https://example.com/cat.png"}}], [{"type":"location","latitude":55.7,"longitude":37.6}] or [{"type":"file","filename":"a.pdf","payload":{}}]'
] as const

/** Tools by which a person talks to bots. */
export const conversationTools: ReadonlyArray<Tool> = [
  ofCall("start", "Start the bot", declarations.start, {
    description:
      "A person opens the dialog with the bot and starts it. The bot receives bot_started. Returns the dialog. Use wait_for_reply afterwards.",
    fields: { payload: "Payload of the deep link by which the person opens the bot. Default: none" }
  }),
  ofCall("stop", "Stop the bot", declarations.stop, {
    description: "A person stops the bot, which receives bot_stopped and cannot write to the dialog any more."
  }),
  ofCall("say", "Send a message", declarations.sendMessage, {
    description:
      "A person sends a message. The bot receives message_created. Returns the message. Use wait_for_reply afterwards.",
    fields: {
      chat_id: "Id of the chat. Default: the dialog with the bot",
      text: "The text. Default: empty",
      format: "How the text is parsed. Default: plain text",
      attachments,
      link: 'The message that is answered or forwarded: {"type":"reply" or "forward","mid":its id}'
    }
  }),
  ofCall("press", "Press a button", declarations.press, {
    description:
      "A person presses a button of a message. For a callback button, the bot receives message_callback, and callback_id is returned. Other buttons send a message, a contact or a location. Use wait_for_reply afterwards.",
    fields: {
      message_id: "Id of the message with the button: its body.mid",
      button: 'The text of the button, its [row, column] counted from 0, or {"payload": its payload}'
    }
  }),
  ofCall("edit_message", "Edit a message", declarations.edit, {
    description: "A person edits their message. The bot receives message_edited. Returns the message.",
    fields: { text: "The new text" }
  }),
  ofCall("remove_message", "Remove a message", declarations.remove, {
    description: "A person removes a message. The bot receives message_removed.",
    destroys: true
  }),
  ofCall("comment", "Comment on a post", declarations.sendComment, {
    description: "A person comments on a post of a channel. The bot receives an update. Returns the comment.",
    fields: {
      message_id: "Id of the post: its body.mid",
      text: "The text of the comment",
      reply_to: "Id of the comment that is answered. Default: none",
      on_behalf: "Whether an administrator comments on behalf of the channel. Default: false"
    }
  }),
  ofCall("edit_comment", "Edit a comment", declarations.editComment, {
    description: "A person edits their comment. Returns the comment.",
    fields: { text: "The new text" }
  }),
  ofCall("remove_comment", "Remove a comment", declarations.removeComment, {
    description: "A person removes a comment. With the right delete, also a comment of another person.",
    destroys: true
  }),
  ofCall("read_comments", "Read the comments of a post", declarations.listComments, {
    description: "Returns the comments of a post of a channel, the oldest first.",
    fields: { message_id: "Id of the post: its body.mid" }
  }),
  ofCall("read_messages", "Read the messages of a chat", declarations.listMessages, {
    description:
      "Returns the last messages of a chat, of persons and of bots, the oldest first, and the messages that were removed.",
    fields: { count: "Maximum number of messages, which are the latest ones. Default: all" }
  })
]
