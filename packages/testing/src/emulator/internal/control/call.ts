import type { ChatId } from "@colloquy/core/model/Chat"
import type * as Endpoint from "@colloquy/core/client/Endpoint"
import type { MessageId } from "@colloquy/core/model/Message"
import type { UserId } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import type { Handler as Serve, Listener, Request } from "../../EmulatorHttp.ts"
import type { PersonError } from "../../Person.ts"
import * as refusal from "../http/refusal.ts"
import { makePerson } from "../people/person.ts"
import type { EmulatorContext } from "../platform/context.ts"
import type { BotState, ChatState, CommentState, MessageState, UserState } from "../platform/state.ts"
import * as users from "../platform/users.ts"
import type * as declarations from "./declarations.ts"

/** A call of the control API. */
export interface ControlCall extends EmulatorContext {
  /** The listener that received the call. */
  readonly listener: Listener
  /** Answers a request of a bot. */
  readonly serve: Serve
  /** The headers of the call. */
  readonly headers: Request["headers"]
}

export type Handler<Request, Success> = (
  request: Request,
  control: ControlCall
) => Effect.Effect<Success, refusal.Refusal | PersonError>

type Declarations = typeof declarations

/** A handler for each declared call, by its name. A missing handler is a type error. */
export type Handlers = {
  readonly [
    K in keyof Declarations as Declarations[K] extends Endpoint.Any ? K : never
  ]: Declarations[K] extends Endpoint.Any
    ? Handler<Endpoint.Request<Declarations[K]>, Endpoint.Success<Declarations[K]>>
    : never
}

export const success = { success: true } as const

export interface ToBot {
  readonly bot_id?: UserId | null | undefined
}

export const botOf = ({ state }: EmulatorContext, { bot_id }: ToBot): refusal.Refusable<BotState> =>
  refusal.found(bot_id == null ? [...state.bots.values()][0] : users.botOf(state, bot_id), () =>
    refusal.notFound(`bot_id: Bot ${bot_id}`)
  )

export const userOf = ({ state }: EmulatorContext, field: string, user_id: UserId): refusal.Refusable<UserState> =>
  refusal.found(state.users.get(user_id), () => refusal.notFound(`${field}: User ${user_id}`))

export const chatOf = ({ state }: EmulatorContext, chat_id: ChatId): refusal.Refusable<ChatState> =>
  refusal.found(state.chats.get(chat_id), () => refusal.chatNotFound(chat_id))

export const messageOf = ({ state }: EmulatorContext, mid: MessageId): refusal.Refusable<MessageState> =>
  refusal.found(state.messages.get(mid), () => refusal.messageNotFound(mid))

/** Also finds a removed message, which people may still see. */
export const shownMessageOf = ({ state }: EmulatorContext, mid: MessageId): refusal.Refusable<MessageState> =>
  refusal.found(state.messages.get(mid) ?? state.removedMessages.get(mid), () => refusal.messageNotFound(mid))

export const commentOf = ({ state }: EmulatorContext, mid: MessageId): refusal.Refusable<CommentState> =>
  refusal.found(state.comments.get(mid), () => refusal.messageNotFound(mid))

export const personOf = Effect.fnUntraced(function* (
  control: EmulatorContext,
  request: ToBot & { readonly user_id: UserId },
  field = "user_id"
) {
  const bot = yield* botOf(control, request)
  const user = yield* userOf(control, field, request.user_id)
  if (user.profile.is_bot) return yield* refusal.invalidPayload(`${field}: ${request.user_id} is a bot, not a person`)
  return makePerson(control.state, bot, user)
})
