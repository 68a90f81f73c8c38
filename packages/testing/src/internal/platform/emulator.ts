import type { Chat } from "@colloquy/core/Chat"
import type { Update } from "@colloquy/core/Update"
import type { UserWithPhoto } from "@colloquy/core/User"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { ChatOptions, Emulator, Options, UserOptions } from "../../Emulator.ts"
import type { ChatRef, Person, UserRef } from "../../Person.ts"
import { problemOfChat, problemOfUser } from "./checks.ts"
import { controlling, isControl } from "../control/control.ts"
import { deliver } from "./deliveries.ts"
import { addFault, setFaults } from "./faults.ts"
import { apiOrigin } from "../http/httpClient.ts"
import { documentedLimits, Limiter } from "./limits.ts"
import { defaultMediaSettings, type MediaSettings } from "./media.ts"
import type { Account, Bot, Room } from "./model.ts"
import { makePerson } from "../people/person.ts"
import { chatIdOf, midOf, userIdOf } from "./refs.ts"
import { admit, allRights, appoint, closeRoom, openRoom, settle } from "./rooms.ts"
import { serving } from "../http/serve.ts"
import { present, toChat } from "./views.ts"
import { listen, makeOutlet } from "../webhook/outlet.ts"
import { idOf, World } from "./world.ts"

export const defaultToken = "emulator-token"

const accountOf = (world: World, { user_id }: Person): Account => world.accounts.get(user_id)!

/** A chat with its people in it; then the bot is added, as somebody would add it. */
const openChat = (world: World, bot: Bot, options: ChatOptions): Chat => {
  const { bot: role = {}, hasComments = true, isPublic = false, members = [], title, type = "chat" } = options
  const people = members.map((person) => accountOf(world, person))
  const owner =
    options.owner === undefined
      ? (people[0] ?? world.addAccount({ first_name: "Owner" }))
      : accountOf(world, options.owner)
  const link = isPublic ? `https://emulator.test/${world.nextName("c")}` : null
  const chat_id = options.chat_id === undefined ? {} : { chat_id: options.chat_id }
  const room = openRoom(world, {
    ...chat_id,
    type,
    ...(title === undefined ? {} : { title }),
    link,
    owner: idOf(owner),
    hasComments
  })
  for (const account of new Set([owner, ...people])) settle(world, room, account)
  if (role !== false) {
    admit(world, room, bot.account, owner)
    const isAdmin = role.admin ?? role.permissions !== undefined
    const member = room.members.get(idOf(bot.account))!
    if (isAdmin) appoint(world, room, member, role.permissions ?? allRights, owner)
  }
  return toChat(world, room, bot)
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
    leastProcessing: processing.least === undefined ? leastProcessing : Duration.toMillis(processing.least),
    linkLifetime: imageLinkLifetime === undefined ? linkLifetime : Duration.toMillis(imageLinkLifetime)
  }
}

export const make = Effect.fnUntraced(function* (options: Options) {
  const outlet = yield* makeOutlet({ allowsInsecure: options.insecureWebhooks ?? false })
  const world = yield* Effect.clockWith((clock) => Effect.sync(() => new World(clock, outlet)))
  const token = options.token ?? defaultToken
  const bot = world.addBot({ token, name: options.botName ?? "Bot", username: options.botUsername ?? "bot" })
  for (const [index, token] of (options.moreTokens ?? []).entries()) {
    world.addBot({ token, name: `Bot ${index + 2}`, username: `bot${index + 2}` })
  }
  world.isStrict = options.strict ?? false
  if (options.limits) world.limiter = new Limiter({ ...documentedLimits, ...options.limits })
  world.mediaSettings = mediaSettingsOf(options)

  const roomOf = (ref: ChatRef): Room | undefined => world.rooms.get(chatIdOf(ref))

  const changing = (what: string, ref: ChatRef, change: (room: Room) => void) =>
    Effect.suspend(() => {
      const room = roomOf(ref)
      const problem = room === undefined ? `there is no chat ${chatIdOf(ref)}` : undefined
      return orDefect(what, problem, () => change(room!))
    })

  const atBot = <A>(what: string, ref: UserRef, act: (bot: Bot) => A): Effect.Effect<A> =>
    Effect.suspend(() => {
      const found = world.botOf(userIdOf(ref))
      const problem = found === undefined ? `there is no bot ${userIdOf(ref)}` : undefined
      return orDefect(what, problem, () => act(found!))
    })

  const updatesOf = ({ updates }: Bot): ReadonlyArray<Update> => updates.from(0).map(({ update }) => update)

  const serve = serving(world)
  const control = controlling({ world, openChat: (bot, options) => openChat(world, bot, options) })

  const emulator: Emulator["Service"] = {
    token: Redacted.make(token),
    baseUrl: apiOrigin,
    bot: bot.account.user,
    bots: Effect.sync(() =>
      [...world.bots.values()].map(({ account, token }) => ({
        token: Redacted.make(token),
        user: account.user,
        user_id: idOf(account)
      }))
    ),
    user: (options) =>
      Effect.suspend(() => {
        const { isPrivate, locale, location } = typeof options === "string" ? {} : options
        const profile = profileOf(options)
        return orDefect("user", problemOfUser(world, profile), () =>
          makePerson(world, bot, world.addAccount(profile, { isPrivate, locale, location }))
        )
      }),
    chat: (options = {}) =>
      Effect.suspend(() => orDefect("chat", problemOfChat(world, options), () => openChat(world, bot, options))),
    revoke: (token = bot.token, as = "revoked") => Effect.sync(() => void world.revoked.set(token, as)),
    closeChat: (ref) =>
      changing("closeChat", ref, (room) => {
        closeRoom(world, room)
      }),
    allowComments: (ref, allowed) =>
      changing("allowComments", ref, (room) => {
        room.hasComments = allowed
      }),
    messages: (ref) => Effect.sync(() => roomOf(ref)?.posts.map((post) => present(world, post)) ?? []),
    comments: (ref) =>
      Effect.sync(() => {
        const mid = midOf(ref)
        return (mid === undefined ? undefined : world.posts.get(mid))?.remarks.map(({ comment }) => comment) ?? []
      }),
    updates: Effect.sync(() => updatesOf(bot)),
    updatesOf: (ref) => atBot("updatesOf", ref, updatesOf),
    deliver: (raw, ref = bot.account.user) =>
      atBot("deliver", ref, (bot) => deliver(world, bot, { update_type: "unknown", raw })),
    requests: Effect.sync(() => world.exchanges.from(0)),
    receive: (url, receiver) => listen(outlet, url, receiver),
    deliveries: Effect.sync(() => world.deliveries.from(0)),
    attempts: world.deliveries.stream(0),
    heard: Effect.sync(() => world.heard.from(0).map(({ heard }) => heard)),
    said: (ref) =>
      world.heard.stream(0).pipe(
        Stream.map(({ heard }) => heard),
        Stream.filter(({ chat_id }) => chat_id === chatIdOf(ref))
      ),
    faults: (rules) => setFaults(world, rules),
    fault: (rule) => addFault(world, rule),
    intercept: (intercept) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          world.intercepts.push(intercept)
        }),
        () =>
          Effect.sync(() => {
            world.intercepts.splice(world.intercepts.lastIndexOf(intercept), 1)
          })
      ),
    handle: (request) => (isControl(request) ? control(request) : serve(request))
  }
  return emulator
})
