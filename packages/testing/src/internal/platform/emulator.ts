import type { Chat } from "@colloquy/core/Chat"
import type { Update } from "@colloquy/core/Update"
import type { UserWithPhoto } from "@colloquy/core/User"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import {
  type ChatOptions,
  defaultToken,
  type Options,
  platformLimits,
  type Revocation,
  type UserOptions
} from "../../EmulatorOptions.ts"
import type { ConnectionLost, Interceptor, Request, Response } from "../../EmulatorHttp.ts"
import type { Rule } from "../../Faults.ts"
import type { Receiver } from "../../WebhookSender.ts"
import type { ChatRef, MessageRef, Person, UserRef } from "../../Person.ts"
import { problemOfChat, problemOfUser } from "./validation.ts"
import { controlling, isControl } from "../control/control.ts"
import { deliverUpdate } from "./updates.ts"
import { addFault, setFaults } from "./faults.ts"
import { apiOrigin } from "../http/wire.ts"
import { Limiter } from "./limits.ts"
import { defaultMediaSettings, type MediaSettings } from "./media.ts"
import type { UserState, BotState, ChatState } from "./model.ts"
import { makePerson } from "../people/person.ts"
import { chatIdOf, midOf, userIdOf } from "./refs.ts"
import { addMember, allRights, setAdminRights, closeChat, createChat, insertMember } from "./chats.ts"
import { serving } from "../http/serve.ts"
import { toMessage, toChat } from "./views.ts"
import { addReceiver, makeRuntime } from "../webhook/runtime.ts"
import { idOf, PlatformState } from "./state.ts"

const userOf = (state: PlatformState, { user_id }: Person): UserState => state.users.get(user_id)!

/** A chat with its people in it; then the bot is added, as somebody would add it. */
const openChat = (state: PlatformState, bot: BotState, options: ChatOptions): Chat => {
  const { bot: role = {}, hasComments = true, isPublic = false, members = [], title, type = "chat" } = options
  const people = members.map((person) => userOf(state, person))
  const owner =
    options.owner === undefined ? (people[0] ?? state.addUser({ first_name: "Owner" })) : userOf(state, options.owner)
  const link = isPublic ? `https://emulator.test/${state.nextName("c")}` : null
  const chat_id = options.chat_id === undefined ? {} : { chat_id: options.chat_id }
  const chat = createChat(state, {
    ...chat_id,
    type,
    ...(title === undefined ? {} : { title }),
    link,
    owner: idOf(owner),
    hasComments
  })
  for (const user of new Set([owner, ...people])) insertMember(state, chat, user)
  if (role !== false) {
    addMember(state, chat, bot.user, owner)
    const isAdmin = role.admin ?? role.permissions !== undefined
    const member = chat.members.get(idOf(bot.user))!
    if (isAdmin) setAdminRights(state, chat, member, role.permissions ?? allRights, owner)
  }
  return toChat(state, chat, bot)
}

const profileOf = (options: string | UserOptions): Pick<UserWithPhoto, "first_name"> & Partial<UserWithPhoto> => {
  if (typeof options === "string") return { first_name: options }
  const { isPrivate: _, locale: __, location: ___, ...profile } = options
  return profile
}

/** Does what a test asks for; what cannot be is a defect of the test. */
const orDefect = <A>(what: string, problem: string | undefined, make: () => A): Effect.Effect<A> =>
  problem === undefined ? Effect.sync(make) : Effect.die(new RangeError(`Emulator.${what}: ${problem}`))

const mediaSettingsOf = ({ imageLinkLifetime, processing = {} }: Options): MediaSettings => {
  const { bytesPerSecond, leastProcessing, linkLifetime } = defaultMediaSettings
  return {
    bytesPerSecond: processing.bytesPerSecond ?? bytesPerSecond,
    leastProcessing: processing.minimum === undefined ? leastProcessing : Duration.toMillis(processing.minimum),
    linkLifetime: imageLinkLifetime === undefined ? linkLifetime : Duration.toMillis(imageLinkLifetime)
  }
}

export const make = Effect.fnUntraced(function* (options: Options) {
  const webhooks = yield* makeRuntime({ allowsInsecure: options.insecureWebhooks ?? false })
  const state = yield* Effect.clockWith((clock) => Effect.sync(() => new PlatformState(clock, webhooks)))
  const token = options.token ?? defaultToken
  const bot = state.addBot({ token, name: options.botName ?? "Bot", username: options.botUsername ?? "bot" })
  for (const [index, token] of (options.moreTokens ?? []).entries()) {
    state.addBot({ token, name: `Bot ${index + 2}`, username: `bot${index + 2}` })
  }
  state.isStrict = options.strict ?? false
  if (options.limits) state.limiter = new Limiter({ ...platformLimits, ...options.limits })
  state.mediaSettings = mediaSettingsOf(options)

  const roomOf = (ref: ChatRef): ChatState | undefined => state.chats.get(chatIdOf(ref))

  const changing = (what: string, ref: ChatRef, change: (chat: ChatState) => void) =>
    Effect.suspend(() => {
      const chat = roomOf(ref)
      const problem = chat === undefined ? `there is no chat ${chatIdOf(ref)}` : undefined
      return orDefect(what, problem, () => change(chat!))
    })

  const atBot = <A>(what: string, ref: UserRef, act: (bot: BotState) => A): Effect.Effect<A> =>
    Effect.suspend(() => {
      const found = state.botOf(userIdOf(ref))
      const problem = found === undefined ? `there is no bot ${userIdOf(ref)}` : undefined
      return orDefect(what, problem, () => act(found!))
    })

  const updatesOf = ({ updates }: BotState): ReadonlyArray<Update> => updates.from(0).map(({ update }) => update)

  const serve = serving(state)
  const control = controlling({ state, openChat: (bot, options) => openChat(state, bot, options) })

  return {
    token: Redacted.make(token),
    baseUrl: apiOrigin,
    bot: bot.user.profile,
    bots: Effect.sync(() =>
      [...state.bots.values()].map(({ user, token }) => ({
        token: Redacted.make(token),
        user: user.profile,
        user_id: idOf(user)
      }))
    ),
    user: (options: string | UserOptions) =>
      Effect.suspend(() => {
        const { isPrivate, locale, location } = typeof options === "string" ? {} : options
        const profile = profileOf(options)
        return orDefect("user", problemOfUser(state, profile), () =>
          makePerson(state, bot, state.addUser(profile, { isPrivate, locale, location }))
        )
      }),
    chat: (options: ChatOptions = {}) =>
      Effect.suspend(() => orDefect("chat", problemOfChat(state, options), () => openChat(state, bot, options))),
    revokeToken: (token = bot.token, as: Revocation = "revoked") =>
      Effect.sync(() => void state.revokedTokens.set(token, as)),
    closeChat: (ref: ChatRef) =>
      changing("closeChat", ref, (chat) => {
        closeChat(state, chat)
      }),
    allowComments: (ref: ChatRef, allowed: boolean) =>
      changing("allowComments", ref, (chat) => {
        chat.hasComments = allowed
      }),
    messages: (ref: ChatRef) =>
      Effect.sync(() => roomOf(ref)?.messages.map((message) => toMessage(state, message)) ?? []),
    comments: (ref: MessageRef) =>
      Effect.sync(() => {
        const mid = midOf(ref)
        return (
          (mid === undefined ? undefined : state.messages.get(mid))?.comments.map(({ value: comment }) => comment) ?? []
        )
      }),
    updates: Effect.sync(() => updatesOf(bot)),
    updatesOf: (ref: UserRef) => atBot("updatesOf", ref, updatesOf),
    deliver: (raw: unknown, ref: UserRef = bot.user.profile) =>
      atBot("deliver", ref, (bot) => deliverUpdate(state, bot, { update_type: "unknown", raw })),
    requests: Effect.sync(() => state.exchanges.from(0)),
    receive: (url: string, receiver: Receiver<unknown>) => addReceiver(webhooks, url, receiver),
    deliveries: Effect.sync(() => state.deliveries.from(0)),
    attempts: state.deliveries.stream(0),
    events: Effect.sync(() => state.events.from(0).map(({ event: heard }) => heard)),
    eventsIn: (ref: ChatRef) =>
      state.events.stream(0).pipe(
        Stream.map(({ event: heard }) => heard),
        Stream.filter(({ chat_id }) => chat_id === chatIdOf(ref))
      ),
    setFaults: (rules: ReadonlyArray<Rule>) => setFaults(state, rules),
    addFault: (rule: Rule) => addFault(state, rule),
    intercept: (interceptor: Interceptor) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          state.interceptors.push(interceptor)
        }),
        () =>
          Effect.sync(() => {
            state.interceptors.splice(state.interceptors.lastIndexOf(interceptor), 1)
          })
      ),
    handle: (request: Request): Effect.Effect<Response, ConnectionLost> =>
      isControl(request) ? control(request) : serve(request)
  }
})
