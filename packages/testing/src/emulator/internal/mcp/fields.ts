import type { Rule } from "../../Faults.ts"

/** Descriptions of the arguments that several tools have. */
export const shared = {
  bot_id: "Id of the bot that the call concerns. Default: the first bot",
  user_id: "Id of the person, which create_person returned or read_state lists",
  chat_id: "Id of the chat. Negative for groups and channels, positive for dialogs",
  message_id: "Id of the message: its body.mid",
  comment_id: "Id of the comment",
  member_id: "Id of the person who is concerned",
  permissions:
    "Rights of the administrator, such as read_all_messages, add_remove_members, add_admins, change_chat_info, pin_message, write, edit and delete. Default: none, which makes an ordinary member"
}

/** The person who changes another member of a chat. */
export const acting = { user_id: "Id of the person who acts, and who must be in the chat and have the right to do so" }

/** Descriptions of the fields of a rule of the faults. */
export const rule: { readonly [K in keyof Rule]-?: string } = {
  method: "Selects requests by their HTTP method",
  path: "Selects requests by their path: * matches anything, {chatId} matches one segment",
  endpoint: "Selects requests by the name of their endpoint, such as Messages.send",
  update_type: "Selects deliveries of updates by their type, such as message_created",
  chat_id: "Selects requests and deliveries that concern this chat",
  nth: "Applies only to the nth match, counted from 1",
  every: "Applies only to every nth match",
  probability: "Applies to each match with this probability, from 0 to 1",
  seed: "The same seed selects the same matches of probability. Default: 0",
  times: "Maximum number of times that the rule is applied. Default: no limit",
  lasts:
    "For how long the rule applies, in milliseconds of the emulator's clock. Default: until the rules are replaced",
  status: "The HTTP status of the response. The request is not executed",
  code: "The code of the error body. Default: that of the status",
  message: "The message of the error body. Default: that of the status",
  body: "The whole body of the response. A string is sent unchanged, any other value as JSON",
  headers: "Headers of the response, by their names, such as retry-after",
  delay: "Delay of the response in milliseconds",
  reset: "Resets the connection before the request is executed, or after",
  truncate: "Number of characters of the body that are sent",
  forward_body: "The body of messages that only forward another message: null, or no key",
  empty_text: "The text of messages without a text: null, or no key",
  quote_markup: "absent: quotes are not recognized, and their text remains",
  delivery: "Does not deliver the update (drop), or delivers it twice (duplicate)"
}
