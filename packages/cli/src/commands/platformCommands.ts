import * as Messages from "@colloquy/core/endpoints/Messages"
import * as Platform from "@colloquy/core/base/Platform"
import * as Settings from "@colloquy/core/client/Settings"
import type { Subscription } from "@colloquy/core/model/Subscription"
import * as Subscriptions from "@colloquy/core/endpoints/Subscriptions"
import * as Webhook from "@colloquy/core/inbox/Webhook"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { action, type FlagsOf, group } from "../base/commands.ts"
import { optional, positiveFlag, standard, switchFlag, textArgument } from "../base/flags.ts"
import { asBot, parseChatId, parseUserId, urlArgument } from "../base/client.ts"
import { type ConfirmFlags, confirmed, confirmFlags } from "../base/confirm.ts"
import { type CommandFailed, failed, invalid } from "../base/failure.ts"
import { count, print, printRows, type Row, time } from "../base/output.ts"
import { probe } from "../base/probe.ts"

const sendFlags = {
  chat: textArgument("chat", "Id of the chat, or of the user with --user"),
  text: textArgument("text", `Text of the message, at most ${Platform.maxTextLength} characters`).pipe(
    Argument.filter(
      (text) => Platform.lengthOf(text) <= Platform.maxTextLength,
      (text) => `The text has ${Platform.lengthOf(text)} characters: at most ${Platform.maxTextLength} are allowed.`
    )
  ),
  toUser: switchFlag("user", "The id is that of a user, not of a chat"),
  format: Flag.Literals("format", ["markdown", "html"]).pipe(optional("Format of the text. Default: plain text")),
  silent: switchFlag("silent", "Sends without a notification")
}

type SendFlags = FlagsOf<typeof sendFlags>

const send = Effect.fnUntraced(function* ({ chat, format, silent, text }: SendFlags, to: Messages.To) {
  const message = yield* Messages.send({
    ...to,
    text,
    ...(format === undefined ? {} : { format }),
    ...(silent ? { notify: false } : {})
  })
  const id = message.body?.mid
  const chat_id = message.recipient.chat_id
  yield* print(
    { message_id: id, chat_id, timestamp: message.timestamp },
    `Sent${id == null ? "" : ` the message ${id}`} to ${chat_id == null ? chat : `chat ${chat_id}`}.`
  )
})

const recipientOf = (flags: SendFlags): Effect.Effect<Messages.To, CommandFailed> =>
  flags.toUser
    ? Effect.map(parseUserId(flags.chat), (user_id) => ({ user_id }))
    : Effect.map(parseChatId(flags.chat), (chat_id) => ({ chat_id }))

export const sendCommand = action("send", "Sends a message as the bot", sendFlags, (flags) =>
  Effect.flatMap(recipientOf(flags), (to) => asBot(send(flags, to)))
).pipe(
  Command.withExamples([{ command: 'colloquy send -42 "The shop opens at nine."', description: "Writes to a group" }])
)

const subscriptionRow = (subscription: Subscription): Row => {
  const { time: at, update_types, url } = subscription
  return {
    value: subscription,
    cells: [
      url,
      at == null ? undefined : `since ${time(at)}`,
      update_types == null ? "all updates" : update_types.join(", ")
    ],
    color: "green"
  }
}

const listSubscriptions = Effect.flatMap(Subscriptions.list(), (subscriptions) =>
  printRows(
    Stream.fromIterable(subscriptions),
    subscriptions.length,
    "No webhook is subscribed; updates are delivered by long polling.",
    subscriptionRow
  )
)

const insecure = Config.withDefault(Config.Boolean("BOT_WEBHOOK_INSECURE"), false)

const subscribeBySettings = Effect.map(
  Settings.all({ insecure, secretCharacters: Settings.secretCharacters }),
  Subscriptions.subscribeWith
)

const subscriptionFlags = {
  url: urlArgument,
  types: Flag.String("type").pipe(
    Flag.atLeast(0),
    Flag.withDescription("Type of updates to deliver; repeat it for more. Default: all")
  ),
  withSecret: Flag.Boolean("secret").pipe(standard(true, "Deliveries carry the secret BOT_WEBHOOK_SECRET"))
}

const setSubscription = Effect.fnUntraced(function* ({ types, url, withSecret }: FlagsOf<typeof subscriptionFlags>) {
  const { secret } = yield* Settings.all({ secret: Webhook.settings.secret })
  if (withSecret && secret === undefined) {
    return yield* invalid(
      "BOT_WEBHOOK_SECRET is not set, and a Colloquy webhook rejects deliveries without its secret. Set it to the secret " +
        "of the bot, or subscribe without a secret with --no-secret."
    )
  }
  const subscribe = yield* subscribeBySettings
  yield* subscribe({
    url,
    ...(types.length === 0 ? {} : { update_types: types }),
    ...(withSecret && secret !== undefined ? { secret: Redacted.value(secret) } : {})
  })
  yield* print({ url, update_types: types.length === 0 ? null : types }, `Subscribed ${url}.`)
})

const removeSubscription = Effect.fnUntraced(function* (url: string, flags: ConfirmFlags) {
  const subscriptions = yield* Subscriptions.list()
  if (!subscriptions.some((subscription) => subscription.url === url)) {
    return yield* failed(`${url} is not subscribed. \`colloquy subscriptions list\` lists the subscriptions.`)
  }
  const left = subscriptions.length - 1
  const then = left === 0 ? "Updates are delivered by long polling then." : `${count(left, "webhook")} left.`
  const plan = { value: { url, left }, text: `Removes the subscription of ${url}. ${then}` }
  if (!(yield* confirmed(flags, Effect.succeed(plan)))) return
  yield* Subscriptions.unsubscribe({ url })
  yield* print({ url, left }, `Removed ${url}. ${then.replace("then", "now")}`)
})

export const subscriptions = group("subscriptions", "Shows and changes the webhooks that are subscribed", [
  action("list", "Lists the subscribed webhooks", {}, () => asBot(listSubscriptions)),
  action("set", "Subscribes a webhook, or changes its subscription", subscriptionFlags, (flags) =>
    asBot(setSubscription(flags))
  ),
  action(
    "remove",
    "Removes the subscription of a webhook, after a question",
    { url: urlArgument, ...confirmFlags },
    ({ url, ...flags }) => asBot(removeSubscription(url, flags))
  )
])

const chooseUrl = Effect.fnUntraced(function* (url: string | undefined, subscriptions: ReadonlyArray<Subscription>) {
  const wanted = url ?? (yield* Config.withDefault(Config.String("BOT_WEBHOOK_URL"), undefined))
  if (wanted === undefined) {
    const [only] = subscriptions
    if (only !== undefined && subscriptions.length === 1) return only
    return yield* invalid("Give the URL of the webhook: set BOT_WEBHOOK_URL, or use --url.")
  }
  const found = subscriptions.find((subscription) => subscription.url === wanted)
  if (found !== undefined) return found
  return yield* failed(
    `${wanted} is not subscribed. Start the bot, which subscribes it, or run \`colloquy subscriptions set ${wanted}\`.`
  )
})

const howToAccept =
  "Generate a secret, for example with `openssl rand -hex 32`, add it to BOT_WEBHOOK_ACCEPTED_SECRETS of every process of the " +
  "bot, restart them, and run the command again with the same setting."

const rotateFlags = {
  url: Flag.String("url").pipe(
    Flag.filter(URL.canParse, (url) => `--url "${url}": is not a URL`),
    optional("URL of the webhook. Default: BOT_WEBHOOK_URL, or the only one that is subscribed")
  ),
  probes: positiveFlag("probes").pipe(standard(20, "Number of connections on which the new secret must be accepted"))
}

const rotateSecret = Effect.fnUntraced(function* ({ probes, url }: FlagsOf<typeof rotateFlags>) {
  const { accepted, current, header } = yield* Settings.all({
    accepted: Webhook.settings.acceptedSecrets,
    current: Webhook.settings.secret,
    header: Settings.secretHeader
  })
  const target = yield* chooseUrl(url, yield* Subscriptions.list())
  const next = accepted.find((secret) => current === undefined || Redacted.value(secret) !== Redacted.value(current))
  if (next === undefined) return yield* invalid(`BOT_WEBHOOK_ACCEPTED_SECRETS has no new secret. ${howToAccept}`)
  // Behind a load balancer, each connection may reach another process.
  for (let round = 1; round <= probes; round++) {
    const answer = probe(target.url, header, next)
    if (yield* Effect.mapError(answer, (reason) => failed(`The secret was not changed: ${reason}`))) continue
    return yield* failed(
      `The secret was not changed: the webhook ${target.url} rejected the new secret${round === 1 ? "" : ` after it was accepted ${count(round - 1, "time")}, so some of its processes do not have it yet`}. Add it to ` +
        "BOT_WEBHOOK_ACCEPTED_SECRETS of every process of the bot, restart them, and run the command again."
    )
  }
  const subscribe = yield* subscribeBySettings
  yield* subscribe({
    url: target.url,
    ...(target.update_types == null ? {} : { update_types: target.update_types }),
    secret: Redacted.value(next)
  })
  yield* print(
    { url: target.url, rotated: true },
    `The platform now delivers to ${target.url} with the new secret. Next: set BOT_WEBHOOK_SECRET to it, move the old secret to ` +
      "BOT_WEBHOOK_ACCEPTED_SECRETS, and restart the bot. Remove the old secret after a day, when no delivery carries it any more."
  )
})

export const webhook = group("webhook", "Changes the webhook of the bot", [
  action(
    "rotate-secret",
    "Changes the secret to the new one in BOT_WEBHOOK_ACCEPTED_SECRETS, after the running bot was seen to accept it, so that no delivery is lost",
    rotateFlags,
    (flags) => asBot(rotateSecret(flags))
  )
])
