import { ChatId } from "@colloquy/core/Chat"
import { SenderAction } from "@colloquy/core/Chats"
import { Comment } from "@colloquy/core/Comment"
import * as Json from "@colloquy/core/Json"
import { Message, MessageId } from "@colloquy/core/Message"
import { Update } from "@colloquy/core/Update"
import { UserId } from "@colloquy/core/User"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Exchange } from "../../EmulatorHttp.ts"
import type { PersonEvent } from "../../Person.ts"
import type { Delivery } from "../../WebhookSender.ts"
import { headersIn } from "../http/wire.ts"

const event = <const Type extends string, const Fields extends Schema.Struct.Fields>(type: Type, fields: Fields) =>
  Schema.Struct({ type: Schema.tag(type), chat_id: ChatId, ...fields })

/** An event of a person, with its kind in `type`. */
export const EventView = Schema.Union([
  event("message", { message: Message, notify: Schema.Boolean }),
  event("edited", { message: Message }),
  event("removed", { message_id: MessageId }),
  event("action", { action: SenderAction }),
  event("notification", { user_id: UserId, callback_id: Schema.String, text: Schema.String }),
  event("comment", { comment: Comment }),
  event("notice", { changed: Schema.Array(Schema.Literals(["icon", "title", "description", "pin"])) })
])

export type EventView = typeof EventView.Type

export const toEventView = ({ _tag, ...rest }: PersonEvent): EventView =>
  ({ type: _tag.toLowerCase(), ...rest }) as EventView

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
  answer: Schema.Unknown
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

const parseBody = (text: string | undefined): unknown =>
  text === undefined || text === ""
    ? null
    : Result.getOrElse(
        Result.try(() => Json.parse(text)),
        () => text
      )

export const toRequestView = ({ answer, body, endpoint, headers, status, ...rest }: Exchange): RequestView => ({
  ...rest,
  headers: headersIn({ headers }),
  endpoint: endpoint ?? null,
  body: parseBody(body),
  status: status ?? null,
  answer: parseBody(answer)
})
