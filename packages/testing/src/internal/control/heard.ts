import { ChatId } from "@colloquy/core/Chat"
import { SenderAction } from "@colloquy/core/Chats"
import { Comment } from "@colloquy/core/Comment"
import { Message, MessageId } from "@colloquy/core/Message"
import { UserId } from "@colloquy/core/User"
import * as Schema from "effect/Schema"
import type { PersonEvent } from "../../Person.ts"

const heard = <const Type extends string, const Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ type: Schema.tag(type), chat_id: ChatId, ...fields })

/** What a bot did, with its kind in `type`. */
export const HeardOnWire = Schema.Union([
  heard("message", { message: Message, notify: Schema.Boolean }),
  heard("edited", { message: Message }),
  heard("removed", { message_id: MessageId }),
  heard("action", { action: SenderAction }),
  heard("notification", { user_id: UserId, callback_id: Schema.String, text: Schema.String }),
  heard("comment", { comment: Comment }),
  heard("notice", { changed: Schema.Array(Schema.Literals(["icon", "title", "description", "pin"])) })
])

export type HeardOnWire = typeof HeardOnWire.Type

export const toWire = ({ _tag, ...rest }: PersonEvent): HeardOnWire =>
  ({ type: _tag.toLowerCase(), ...rest }) as HeardOnWire
