import * as Platform from "@colloquy/core/base/Platform"
import { SecretCharacters, SecretHeader } from "@colloquy/core/model/Subscription"
import type { Update } from "@colloquy/core/model/Update"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Emulator } from "../../Emulator.ts"
import { defaultToken, type Options, platformLimits, type UserOptions } from "../../EmulatorOptions.ts"
import type { ChatRef, UserRef } from "../../Person.ts"
import { makeControl, isControl } from "../control/control.ts"
import { streamOf } from "../control/events.ts"
import { realTime } from "../control/wallClock.ts"
import { makeServe } from "../http/serve.ts"
import { apiOrigin } from "../http/wire.ts"
import { chatIdOf, midOf, userIdOf } from "../people/access.ts"
import { makePerson } from "../people/person.ts"
import { makeRuntime, type SecretSettings } from "../webhook/runtime.ts"
import { allowComments, closeChat, createGroup } from "./chats.ts"
import type { EmulatorContext } from "./context.ts"
import { activate, setFaults } from "./faults.ts"
import { makeLimiter } from "./limits.ts"
import * as platform from "./state.ts"
import { deliverUpdate } from "./updates.ts"
import { addBot, addUser, botOf, idOf } from "./users.ts"
import { problemOfChat, problemOfUser } from "./validation.ts"
import { toChat, toMessage } from "./views.ts"

/** Runs an operation of a test. An impossible operation is an error in the test, and therefore a defect. */
const orDefect = <A>(member: string, problem: string | undefined, run: () => A): Effect.Effect<A> =>
  problem === undefined ? Effect.sync(run) : Effect.die(new RangeError(`Emulator.${member}: ${problem}`))

/** Adds a value to a list until the scope closes. */
const addTo = <A>(list: Array<A>, value: A) =>
  Effect.acquireRelease(
    Effect.sync(() => void list.push(value)),
    () => Effect.sync(() => void list.splice(list.lastIndexOf(value), 1))
  )

const withFound = <F, A>(member: string, name: string, find: () => F | undefined, run: (found: F) => A) =>
  Effect.suspend(() => {
    const found = find()
    return orDefect(member, found === undefined ? `there is no ${name}` : undefined, () => run(found!))
  })

/** @assumption processingTime */
const mediaSettingsOf = ({
  linkLifetime = Platform.imageUrlLifetime,
  processing: { bytesPerSecond = 2 * 2 ** 20, minimum = 200 } = {}
}: Options): platform.MediaSettings => ({
  bytesPerSecond,
  minimumProcessing: Duration.toMillis(minimum),
  linkLifetime: Duration.toMillis(linkLifetime)
})

const isSecretHeader = Schema.is(SecretHeader)

const isSecretCharacters = Schema.is(SecretCharacters)

const secretSettingsOf = ({
  secretCharacters: secret_characters = Platform.secretCharacters,
  secretHeader: secret_header = Platform.secretHeader
}: Options): Effect.Effect<SecretSettings> => {
  const problem = !isSecretHeader(secret_header)
    ? "secretHeader must be the name of an HTTP header"
    : isSecretCharacters(secret_characters)
      ? undefined
      : "secretCharacters must be visible ASCII characters other than the comma"
  return orDefect("make", problem, () => ({ secret_header, secret_characters }))
}

/** Composes the state with the limits, the webhooks, the listeners' handler and the control API. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const clock = yield* Clock.Clock
  const state = new platform.PlatformState(clock, {
    startedAt: realTime(clock),
    mediaSettings: mediaSettingsOf(options)
  })
  const context: EmulatorContext = {
    state,
    webhooks: yield* makeRuntime(options.insecureWebhooks ?? false, yield* secretSettingsOf(options)),
    limiter: options.limits ? makeLimiter({ ...platformLimits, ...options.limits }) : undefined,
    interceptors: [],
    isStrict: options.strict ?? false,
    botModule: options.botModule,
    testFolder: options.testFolder
  }
  const { interceptors, webhooks } = context
  const token = options.token ?? defaultToken
  const bot = addBot(state, { token, name: options.botName ?? "Bot", username: options.botUsername ?? "bot" })
  for (const [index, token] of (options.moreTokens ?? []).entries()) {
    addBot(state, { token, name: `Bot ${index + 2}`, username: `bot${index + 2}` })
  }

  const chatOf = (ref: ChatRef): platform.ChatState | undefined => state.chats.get(chatIdOf(ref))

  const changeChat = (member: string, ref: ChatRef, change: (chat: platform.ChatState) => void): Effect.Effect<void> =>
    withFound(member, `chat ${chatIdOf(ref)}`, () => chatOf(ref), change)

  const withBot = <A>(member: string, ref: UserRef, run: (bot: platform.BotState) => A): Effect.Effect<A> =>
    withFound(member, `bot ${userIdOf(ref)}`, () => botOf(state, userIdOf(ref)), run)

  const updatesOf = ({ updates }: platform.BotState): ReadonlyArray<Update> =>
    updates.from(0).map(({ update }) => update)

  const serve = makeServe(context)
  const control = makeControl(context, serve)

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
    user: (options) =>
      Effect.suspend(() => {
        const given: UserOptions = typeof options === "string" ? { first_name: options } : options
        const { isPrivate, locale, location, phone, ...profile } = given
        return orDefect("user", problemOfUser(state, given), () =>
          makePerson(state, bot, addUser(state, profile, { isPrivate, locale, location, phone }))
        )
      }),
    chat: (options = {}) =>
      Effect.suspend(() =>
        orDefect("chat", problemOfChat(state, options), () => toChat(state, createGroup(state, bot, options), bot))
      ),
    revokeToken: (token = bot.token, as = "revoked") => Effect.sync(() => void state.revokedTokens.set(token, as)),
    closeChat: (ref) => changeChat("closeChat", ref, (chat) => closeChat(state, chat)),
    allowComments: (ref, allowed) => changeChat("allowComments", ref, (chat) => allowComments(state, chat, allowed)),
    messages: (ref) => Effect.sync(() => chatOf(ref)?.messages.map((message) => toMessage(state, message)) ?? []),
    comments: (ref) => Effect.sync(() => state.messages.get(midOf(ref)!)?.comments.map(({ value }) => value) ?? []),
    updates: Effect.sync(() => updatesOf(bot)),
    updatesOf: (ref) => withBot("updatesOf", ref, updatesOf),
    deliver: (raw, ref = bot.user.profile) =>
      withBot("deliver", ref, (bot) => deliverUpdate(state, bot, { update_type: "unknown", raw })),
    requests: Effect.sync(() => state.exchanges.from(0)),
    receive: (url, receiver) => addTo(webhooks.receivers, { url, receiver }),
    deliveries: Effect.sync(() => state.deliveries.from(0)),
    attempts: state.deliveries.stream(0),
    events: streamOf(state, {}, 0),
    seen: Effect.sync(() => state.seen.from(0).map(({ event }) => event)),
    seenIn: (ref) =>
      state.seen.stream(0).pipe(
        Stream.map(({ event }) => event),
        Stream.filter(({ chat_id }) => chat_id === chatIdOf(ref))
      ),
    setFaults: (rules) => setFaults(state, rules),
    addFault: (rule) => Effect.flatMap(activate(rule), (fault) => addTo(state.faults, fault)),
    intercept: (interceptor) => addTo(interceptors, interceptor),
    handle: (request) => (isControl(request) ? control(request) : serve(request))
  } satisfies Emulator["Service"]
})
