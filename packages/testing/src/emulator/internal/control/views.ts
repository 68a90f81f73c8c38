import { ChatId } from "@colloquy/core/model/Chat"
import { SenderAction } from "@colloquy/core/endpoints/Chats"
import { Comment, Message, MessageId } from "@colloquy/core/model/Message"
import * as Json from "@colloquy/core/base/Json"
import { Update } from "@colloquy/core/model/Update"
import { UserId } from "@colloquy/core/model/User"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { LimitUse } from "../../EmulatorEvent.ts"
import type { Exchange } from "../../EmulatorHttp.ts"
import type { PersonEvent } from "../../Person.ts"
import type { Delivery } from "../../WebhookSender.ts"
import { headersIn } from "../http/wire.ts"
import { defined } from "../platform/validation.ts"

const event = <const Type extends string, const Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ type: Schema.tag(type), chat_id: ChatId, ...fields })

/** An action of a bot that people saw, with its kind in `type`. */
export const SeenView = Schema.Union([
  event("message", { message: Message, notify: Schema.Boolean }),
  event("edited", { message: Message }),
  event("removed", { message_id: MessageId }),
  event("action", { action: SenderAction }),
  event("notification", { user_id: UserId, callback_id: Schema.String, text: Schema.String }),
  event("comment", { comment: Comment }),
  event("notice", { changed: Schema.Array(Schema.Literals(["icon", "title", "description", "pin"])) })
])

export type SeenView = typeof SeenView.Type

export const toSeenView = ({ _tag, ...rest }: PersonEvent): SeenView =>
  ({ type: _tag.toLowerCase(), ...rest }) as SeenView

/** A request of a bot and its response. JSON bodies are decoded. */
export const RequestView = Schema.Struct({
  at: Schema.Int,
  method: Schema.String,
  path: Schema.String,
  query: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  body: Schema.Unknown,
  status: Schema.NullOr(Schema.Int),
  answer: Schema.Unknown,
  number: Schema.Int,
  took: Schema.Int,
  bot_id: Schema.optionalKey(UserId),
  chat_id: Schema.optionalKey(ChatId),
  message_id: Schema.optionalKey(MessageId),
  limits: Schema.Array(LimitUse)
})

export type RequestView = typeof RequestView.Type

/** An attempt to deliver an update, and its result. */
export const DeliveryView = Schema.Struct({
  at: Schema.Int,
  url: Schema.String,
  update: Update,
  attempt: Schema.Int,
  status: Schema.NullOr(Schema.Int),
  failure: Schema.NullOr(Schema.String),
  latency: Schema.Finite
})

export const toDeliveryView = ({ failure, status, ...rest }: Delivery): typeof DeliveryView.Type => ({
  ...rest,
  status: status ?? null,
  failure: failure ?? null
})

/** The JSON of a body, or its text. */
export const parseBody = (text: string | undefined): unknown =>
  text === undefined || text === ""
    ? null
    : Result.getOrElse(
        Result.try(() => Json.parse(text)),
        () => text
      )

export const toRequestView = ({ bot_id, chat_id, fault: _, message_id, ...exchange }: Exchange): RequestView => ({
  ...exchange,
  ...defined({ bot_id, chat_id, message_id }),
  headers: headersIn(exchange),
  endpoint: exchange.endpoint ?? null,
  body: parseBody(exchange.body),
  status: exchange.status ?? null,
  answer: parseBody(exchange.answer)
})
