import { assert, describe, expectTypeOf, it } from "vitest"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Attachment } from "../../src/index.ts"
import {
  Answers,
  type ApiError,
  type BotApi,
  Chat,
  Chats,
  Comments,
  type Endpoint,
  type Keyboard,
  Me,
  type Member,
  Members,
  Message,
  Messages,
  type Subscription,
  Subscriptions,
  type Update,
  Updates,
  type Upload,
  Uploads,
  User,
  Videos
} from "../../src/index.ts"
import * as Endpoints from "../../src/endpoints/Endpoints.ts"

type Forbidden = ApiError.Forbidden
type NotFound = ApiError.NotFound
type Rejected = ApiError.OperationRejected
type NotReady = ApiError.AttachmentNotReady
type Messages_ = ReadonlyArray<Message.Message>

/** The success and the specific errors of each endpoint, without the errors that every endpoint has. */
interface Pinned {
  readonly "Answers.send": [void, ApiError.MethodNotAllowed | Forbidden | NotFound | NotReady | Rejected]
  readonly "Chats.get": [Chat.Chat, Forbidden | NotFound]
  readonly "Chats.edit": [Chat.Chat, Forbidden | NotFound | NotReady | Rejected]
  readonly "Chats.sendAction": [void, Forbidden | NotFound | Rejected]
  readonly "Chats.getPin": [Option.Option<Message.Message>, Forbidden | NotFound]
  readonly "Chats.pin": [void, Forbidden | NotFound | Rejected]
  readonly "Chats.unpin": [void, Forbidden | NotFound | Rejected]
  readonly "Comments.list": [Comments.CommentsPage, Forbidden | NotFound]
  readonly "Comments.get": [Message.Comment, Forbidden | NotFound]
  readonly "Comments.send": [Message.Comment, Forbidden | NotFound]
  readonly "Comments.edit": [void, ApiError.CommentsTimeoutExceeded | Forbidden | NotFound | Rejected]
  readonly "Comments.remove": [void, Forbidden | NotFound | Rejected]
  readonly "Me.get": [User.BotInfo, never]
  readonly "Me.setCommands": [Me.CommandsResult, never]
  readonly "Members.list": [Members.MembersPage, Forbidden | NotFound]
  readonly "Members.add": [void, ApiError.AddParticipantFailed | Forbidden | NotFound | Rejected]
  readonly "Members.remove": [void, Forbidden | NotFound | Rejected]
  readonly "Members.getMe": [Member.ChatMember, Forbidden | NotFound]
  readonly "Members.leave": [void, Forbidden | NotFound | Rejected]
  readonly "Members.listAdmins": [Members.MembersPage, Forbidden | NotFound]
  readonly "Members.setAdmins": [void, Forbidden | NotFound | Rejected]
  readonly "Members.removeAdmin": [void, Forbidden | NotFound | Rejected]
  readonly "Messages.send": [Message.Message, Forbidden | NotFound | NotReady]
  readonly "Messages.list": [Messages_, Forbidden | NotFound]
  readonly "Messages.get": [Message.Message, Forbidden | NotFound]
  readonly "Messages.edit": [void, Forbidden | NotFound | NotReady | Rejected]
  readonly "Messages.remove": [void, Forbidden | NotFound | Rejected]
  readonly "Subscriptions.list": [ReadonlyArray<Subscription.Subscription>, never]
  readonly "Subscriptions.subscribe": [void, Rejected]
  readonly "Subscriptions.unsubscribe": [void, Rejected]
  readonly "Updates.list": [Updates.UpdatesPage, ApiError.MethodNotAllowed]
  readonly "Uploads.create": [Upload.UploadAddress, never]
  readonly "Videos.get": [Attachment.Video, Forbidden | NotFound]
}

const modules = { Answers, Chats, Comments, Me, Members, Messages, Subscriptions, Updates, Uploads, Videos }

type Modules = typeof modules

/** Every endpoint that the modules export, by its name. */
type Exported = {
  [M in keyof Modules as never]: never
} & UnionToIntersection<
  {
    [M in keyof Modules & string]: {
      [K in keyof Modules[M] & string as Modules[M][K] extends Endpoint.Any ? `${M}.${K}` : never]: Modules[M][K]
    }
  }[keyof Modules & string]
>

type UnionToIntersection<U> = (U extends unknown ? (u: U) => void : never) extends (i: infer I) => void ? I : never

type Outcome<F> = F extends (request: never) => Effect.Effect<infer A, infer E, BotApi.BotApi>
  ? [A, Exclude<E, ApiError.Common>]
  : "not an endpoint"

type Outcomes = { readonly [K in keyof Exported]: Outcome<Exported[K]> }

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** The endpoints whose success or errors differ from the expected ones. */
type Different = { [K in keyof Pinned]: Same<Pinned[K], Outcomes[K]> extends true ? never : K }[keyof Pinned]

describe("Endpoint: types", () => {
  it("state the success and the errors of every endpoint", () => {
    expectTypeOf<Different>().toEqualTypeOf<never>()
    expectTypeOf<keyof Exported>().toEqualTypeOf<keyof Pinned>()
    assert.lengthOf(Endpoints.all, 33)
  })

  it("have the common errors at every endpoint", () => {
    expectTypeOf<Endpoint.Errors<typeof Me.get>>().toEqualTypeOf<ApiError.Common>()
    expectTypeOf<Endpoint.Errors<typeof Messages.get>>().toEqualTypeOf<ApiError.Common | Forbidden | NotFound>()
    type Uncommon = {
      [K in keyof Exported]: ApiError.Common extends Endpoint.Errors<Exported[K] & Endpoint.Any> ? never : K
    }
    expectTypeOf<Uncommon[keyof Exported]>().toEqualTypeOf<never>()
  })

  it("exclude errors that an endpoint cannot have", () => {
    expectTypeOf<Endpoint.Errors<typeof Messages.send>>().not.toEqualTypeOf<Endpoint.Errors<typeof Messages.get>>()
    expectTypeOf<Extract<Endpoint.Errors<typeof Messages.get>, NotReady>>().toEqualTypeOf<never>()
  })

  it("require only BotApi", () => {
    expectTypeOf(Me.get).returns.toEqualTypeOf<Effect.Effect<User.BotInfo, ApiError.Common, BotApi.BotApi>>()
    expectTypeOf<Endpoint.Request<typeof Me.get>>().toEqualTypeOf<void>()
  })
})

describe("Endpoint: types of requests", () => {
  const chat_id = Chat.ChatId.make(1)
  const user_id = User.UserId.make(1)
  const message_id = Message.MessageId.make("m")

  it("require exactly one recipient", () => {
    const ok: ReadonlyArray<Messages.SendRequest> = [
      { chat_id },
      { user_id },
      { chat_id, text: "a", user_id: undefined }
    ]
    assert.lengthOf(ok, 3)
    // @ts-expect-error neither
    const neither: Messages.SendRequest = { text: "a" }
    // @ts-expect-error both
    const both: Messages.SendRequest = { chat_id, user_id, text: "a" }
    // @ts-expect-error neither
    const list: Messages.ListRequest = { count: 1 }
    const lists: Messages.ListRequest = { chat_id, message_ids: [message_id] }
    assert.lengthOf([neither, both, list, lists], 4)
  })

  it("reject ids of another type, plain numbers and plain strings", () => {
    expectTypeOf<User.UserId>().not.toExtend<Chat.ChatId>()
    expectTypeOf<Chat.ChatId>().not.toExtend<User.UserId>()
    expectTypeOf<number>().not.toExtend<Chat.ChatId>()
    expectTypeOf<string>().not.toExtend<Message.MessageId>()
    // @ts-expect-error a user is not a chat
    const wrong: Endpoint.Request<typeof Chats.get> = { chat_id: user_id }
    assert.isDefined(wrong)
  })

  it("reject unknown fields", () => {
    // @ts-expect-error chatId
    const wrong: Endpoint.Request<typeof Chats.get> = { chat_id, chatId: 1 }
    assert.isDefined(wrong)
  })
})

describe("Endpoint: types of responses", () => {
  it("narrow an update by update_type", () => {
    expectTypeOf<Update.Of<"bot_started">["user"]>().toEqualTypeOf<User.UserWithPhoto>()
    expectTypeOf<Update.Of<"message_callback">["callback"]>().toEqualTypeOf<Update.Callback>()
    expectTypeOf<Update.Of<"unknown">["raw"]>().toEqualTypeOf<unknown>()
    expectTypeOf<Update.Update["update_type"]>().toEqualTypeOf<Update.UpdateType | "colloquy_timer" | "unknown">()
    const text = (update: Update.Update): string | null | undefined => {
      switch (update.update_type) {
        case "message_created":
          expectTypeOf(update).toEqualTypeOf<Update.Of<"message_created">>()
          return update.message?.body?.text
        case "bot_started":
          return update.payload
        default:
          // @ts-expect-error the message exists only in updates of its type
          return update.message
      }
    }
    assert.strictEqual(text({ update_type: "unknown", raw: 1 }), undefined)
  })

  it("narrow attachments and buttons by type", () => {
    expectTypeOf<Extract<Attachment.Attachment, { type: "image" }>["payload"]["photo_id"]>().toEqualTypeOf<bigint>()
    expectTypeOf<Extract<Keyboard.Button, { type: "link" }>["url"]>().toEqualTypeOf<string>()
    expectTypeOf<Extract<Keyboard.Button, { type: "unknown" }>["raw"]>().toEqualTypeOf<unknown>()
  })

  it("have bigints as positions and branded numbers as ids", () => {
    expectTypeOf<Message.MessageBody["seq"]>().toEqualTypeOf<bigint>()
    expectTypeOf<Message.MessageBody["mid"]>().toEqualTypeOf<Message.MessageId>()
    expectTypeOf<Chat.Chat["chat_id"]>().toEqualTypeOf<Chat.ChatId>()
    expectTypeOf<Chat.Chat["chat_id"]>().toExtend<number>()
  })
})
