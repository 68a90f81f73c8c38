import {
  Attachment,
  AudioAttachment,
  FileAttachment,
  ImageAttachment,
  VideoAttachment
} from "@colloquy/core/model/Attachment"
import type * as Endpoint from "@colloquy/core/client/Endpoint"
import { UserId } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { PersonAttachment } from "../../Person.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { createDialog, createGroup, findDialog } from "../platform/chats.ts"
import type { EmulatorContext } from "../platform/context.ts"
import { addUser } from "../platform/users.ts"
import { defined, problemOfChat, problemOfUser } from "../platform/validation.ts"
import { toChat } from "../platform/views.ts"
import { botOf, personOf, userOf } from "./call.ts"
import { type createChat as createChatCall, type createUser as createUserCall, optional } from "./declarations.ts"

export const createUser = Effect.fnUntraced(function* (
  { hides_activity, is_private, locale, location, phone, ...profile }: Endpoint.Request<typeof createUserCall>,
  { state }: EmulatorContext
) {
  const input = { ...defined(profile), ...(hides_activity === true ? { last_activity_time: null } : {}) }
  const problem = problemOfUser(state, { ...input, ...defined({ phone }) })
  if (problem !== undefined) return yield* refusal.invalidPayload(problem)
  return addUser(state, input, defined({ isPrivate: is_private, locale, location, phone })).profile
})

export const createChat = Effect.fnUntraced(function* (
  request: Endpoint.Request<typeof createChatCall>,
  control: EmulatorContext
) {
  const { state } = control
  const { allows_forwarding, bot: input, bot_id, chat_id, has_comments, is_public, owner_id, title, type } = request
  const bot = yield* botOf(control, { bot_id })
  const role = input == null || input === false ? input : defined(input)
  const problem = problemOfChat(state, defined({ type, chat_id, title, bot: role }))
  if (problem !== undefined) return yield* refusal.invalidPayload(problem)
  const members = yield* Effect.forEach(request.members ?? [], (user_id) =>
    personOf(control, { user_id, bot_id }, "members")
  )
  if (type === "dialog") {
    const [person, ...others] = members
    if (person === undefined || others.length > 0) {
      return yield* refusal.invalidPayload("members: a dialog is with exactly one person")
    }
    const user = yield* userOf(control, "members", person.user_id)
    const known = findDialog(state, user, bot)
    if (chat_id != null && known !== undefined) {
      return yield* refusal.invalidPayload(`chat_id: the dialog with ${person.user_id} is ${known.chat_id} already`)
    }
    if (chat_id != null && state.users.has(UserId.make(chat_id))) {
      return yield* refusal.invalidPayload("chat_id: must not be the id of a user")
    }
    if (chat_id != null) createDialog(state, user, bot, chat_id)
    return yield* person.start()
  }
  const owner = owner_id == null ? undefined : yield* personOf(control, { user_id: owner_id, bot_id }, "owner_id")
  const chat = createGroup(state, bot, {
    ...defined({ type, chat_id, title, owner, bot: role, isPublic: is_public, hasComments: has_comments }),
    ...defined({ allowsForwarding: allows_forwarding }),
    members
  })
  return toChat(state, chat, bot)
})

const payload = optional(
  Schema.Struct({
    url: optional(Schema.String),
    token: optional(Schema.String),
    photo_id: optional(ImageAttachment.fields.payload.fields.photo_id)
  })
)

const media = { payload, content: optional(Schema.Uint8ArrayFromBase64) }

const personMedia = {
  image: Schema.Struct({ ...ImageAttachment.fields, ...media }),
  video: Schema.Struct({ ...VideoAttachment.fields, ...media }),
  audio: Schema.Struct({ ...AudioAttachment.fields, ...media }),
  file: Schema.Struct({ ...FileAttachment.fields, ...media })
}

const decodePersonMedia = Schema.decodeUnknownEffect(Schema.Union(Object.values(personMedia)), { errors: "all" })

const decodeAny = Schema.decodeUnknownEffect(Attachment, { errors: "all" })

const isPersonMedia = (input: unknown): boolean =>
  hasProperty(input, "type") && Object.hasOwn(personMedia, String(input.type))

/** Decodes the attachments of a person's message, in complete form or short form such as `{type, payload: {url}}`. */
export const readAttachments = (input: ReadonlyArray<unknown>): refusal.Refusable<ReadonlyArray<PersonAttachment>> =>
  Effect.forEach(input, (attachment, index) =>
    Effect.mapError(
      Effect.suspend((): Effect.Effect<PersonAttachment, Schema.SchemaError> =>
        isPersonMedia(attachment) ? decodePersonMedia(attachment) : decodeAny(attachment)
      ),
      (error) => refusal.invalidPayload(`attachments[${index}]: ${describe(error)}`)
    )
  )
