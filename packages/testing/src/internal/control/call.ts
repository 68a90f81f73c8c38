import type { Chat, ChatId } from "@colloquy/core/Chat"
import type * as Endpoint from "@colloquy/core/Endpoint"
import type { MessageId } from "@colloquy/core/Message"
import type { UserId } from "@colloquy/core/User"
import * as Effect from "effect/Effect"
import type { ChatOptions } from "../../Emulator.ts"
import type { CannotDo, Person } from "../../Person.ts"
import type { Account, Bot, Room } from "../platform/model.ts"
import { makePerson } from "../people/person.ts"
import type { Entrance } from "../http/wire.ts"
import * as refusal from "../http/refusal.ts"
import type { World } from "../platform/world.ts"

/** What the calls under `/_emulator` act on. */
export interface Control {
  readonly world: World
  readonly openChat: (bot: Bot, options: ChatOptions) => Chat
}

/** A call: the door it came through, and what the caller calls the emulator. */
export interface ControlCall extends Control {
  readonly entrance: Entrance
  readonly host: string | undefined
}

export type Handler<Request, Success> = (
  request: Request,
  control: ControlCall
) => Effect.Effect<Success, refusal.Refusal | CannotDo>

export interface Handled {
  readonly endpoint: Endpoint.Any
  readonly handler: Handler<never, unknown>
}

export const on = <Request, Success>(
  endpoint: Endpoint.Endpoint<Request, Success>,
  handler: Handler<Request, Success>
): Handled => ({ endpoint, handler })

type Refusable<A> = Effect.Effect<A, refusal.Refusal>

export const done = { success: true } as const

export interface ToBot {
  readonly bot_id?: UserId | null | undefined
}

export const botOf = ({ world }: Control, { bot_id }: ToBot): Refusable<Bot> =>
  Effect.suspend((): Refusable<Bot> => {
    const bot = bot_id == null ? [...world.bots.values()][0] : world.botOf(bot_id)
    return bot === undefined ? refusal.notFound(`bot_id: Bot ${bot_id}`) : Effect.succeed(bot)
  })

export const accountOf = ({ world }: Control, field: string, user_id: UserId): Refusable<Account> =>
  Effect.suspend((): Refusable<Account> => {
    const account = world.accounts.get(user_id)
    return account === undefined ? refusal.notFound(`${field}: User ${user_id}`) : Effect.succeed(account)
  })

export const roomOf = ({ world }: Control, chat_id: ChatId): Refusable<Room> =>
  Effect.suspend((): Refusable<Room> => {
    const room = world.rooms.get(chat_id)
    return room === undefined ? refusal.chatNotFound(chat_id) : Effect.succeed(room)
  })

const notFoundUnless = (isThere: boolean, mid: MessageId): Refusable<void> =>
  isThere ? Effect.void : refusal.messageNotFound(mid)

export const requireMessage = ({ world }: Control, mid: MessageId): Refusable<void> =>
  Effect.suspend(() => notFoundUnless(world.posts.has(mid), mid))

/** A message that people may have on their screens, though it was removed. */
export const requireShown = ({ world }: Control, mid: MessageId): Refusable<void> =>
  Effect.suspend(() => notFoundUnless(world.posts.has(mid) || world.removed.has(mid), mid))

export const requireComment = ({ world }: Control, mid: MessageId): Refusable<void> =>
  Effect.suspend(() => notFoundUnless(world.remarks.has(mid), mid))

export const personOf = (
  control: Control,
  request: ToBot & { readonly user_id: UserId },
  field = "user_id"
): Refusable<Person> =>
  Effect.gen(function* () {
    const bot = yield* botOf(control, request)
    const account = yield* accountOf(control, field, request.user_id)
    if (account.user.is_bot) return yield* refusal.invalidPayload(`${field}: ${request.user_id} is a bot, not a person`)
    return makePerson(control.world, bot, account)
  })
