import type * as Effect from "effect/Effect"
import type { AttachmentRequest } from "../../../model/AttachmentRequest.ts"
import type { BotApi } from "../../../client/BotApi.ts"
import * as Comments from "../../../endpoints/Comments.ts"
import type * as Endpoint from "../../../client/Endpoint.ts"
import type { Message } from "../../../model/Message.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import type { MessageId } from "../../../model/Recipient.ts"
import type { CommonOptions } from "../../LiveMessage.ts"

/** The content of a message. Comments have no attachments. */
export interface Body {
  readonly text: string
  readonly format: "html"
  readonly attachments?: ReadonlyArray<AttachmentRequest>
}

export type EditError = Endpoint.Errors<typeof Messages.edit> | Endpoint.Errors<typeof Comments.edit>

export type RemoveError = Endpoint.Errors<typeof Messages.remove> | Endpoint.Errors<typeof Comments.remove>

/** Where a live message is shown: messages of a chat, or comments on a post. */
export interface Target<SE> {
  /** The names of the endpoints that send and edit. */
  readonly sends: string
  readonly edits: string
  /** Sends a message, whose link is that of the options if `isFirst`. */
  readonly send: (body: Body, isFirst: boolean) => Effect.Effect<Message, SE, BotApi>
  readonly toEdit: (id: MessageId, body: Body) => object
  readonly edit: (id: MessageId, body: Body) => Effect.Effect<unknown, EditError, BotApi>
  readonly remove: (id: MessageId) => Effect.Effect<unknown, RemoveError, BotApi>
}

type Fields = Pick<CommonOptions, "link" | "notify" | "disable_link_preview">

/** The request without fields that are missing. */
const toRequest = ({ attachments, format, text }: Body, fields: Fields, isFirst: boolean) => {
  const { disable_link_preview, link, notify } = fields
  return {
    ...(text === "" ? {} : { text, format }),
    ...(attachments === undefined ? {} : { attachments }),
    ...(isFirst && link !== undefined ? { link } : {}),
    ...(notify === undefined ? {} : { notify }),
    ...(disable_link_preview === undefined ? {} : { disable_link_preview })
  }
}

/** Messages of a chat. `send` sends one. */
export const messages = <SE>(
  fields: Fields,
  send: (request: ReturnType<typeof toRequest>) => Effect.Effect<Message, SE, BotApi>
): Target<SE> => {
  const toEdit = (message_id: MessageId, body: Body) => ({ message_id, ...body })
  return {
    sends: Messages.send.endpoint,
    edits: Messages.edit.endpoint,
    send: (body, isFirst) => send(toRequest(body, fields, isFirst)),
    toEdit,
    edit: (id, body) => Messages.edit(toEdit(id, body)),
    remove: (message_id) => Messages.remove({ message_id })
  }
}

/** Comments on a post. `send` sends one. */
export const comments = <SE>(
  post: MessageId,
  fields: Fields,
  send: (request: ReturnType<typeof toRequest>) => Effect.Effect<Message, SE, BotApi>
): Target<SE> => {
  const toEdit = (comment_id: MessageId, { format, text }: Body) => ({ message_id: post, comment_id, text, format })
  return {
    sends: Comments.send.endpoint,
    edits: Comments.edit.endpoint,
    send: ({ format, text }, isFirst) => send(toRequest({ format, text }, fields, isFirst)),
    toEdit,
    edit: (id, body) => Comments.edit(toEdit(id, body)),
    remove: (comment_id) => Comments.remove({ message_id: post, comment_id })
  }
}
