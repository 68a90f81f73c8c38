/** Updates: their text, deliveries to the webhook, and pages of long polling. */
import {
  Bot,
  BotApi,
  Inbox,
  Json,
  QueuedUpdate,
  RateLimiter,
  RetryPolicy,
  Text,
  Update,
  Updates,
  Webhook
} from "@colloquy/core"
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { inspect } from "node:util"
import { mutations } from "./mutation.ts"
import { secret, type Target, token } from "./target.ts"

const { channelMessage, comment, dialogId, groupId, messageId, timestamp, user, userId } = Fixtures

const message = Fixtures.message({
  text: "Hello, *world*",
  link: { type: "reply", sender: user(), chat_id: groupId, message: { mid: messageId, seq: 1n, text: "Hello" } },
  markup: [{ type: "strong", from: 0, length: 5 }],
  attachments: [
    { type: "image", payload: { photo_id: 9_100_000_000_000_000_001n, token: "t", url: "https://media.example/1" } },
    { type: "location", latitude: 1.5, longitude: -2 },
    { type: "inline_keyboard", payload: { buttons: [[{ type: "callback", text: "Yes", payload: "yes" }]] } },
    { type: "unknown", raw: { type: "hologram", depth: [9_100_000_000_000_000_001n] } }
  ]
})

const inChat = { timestamp, chat_id: dialogId, user: user() }

const samples: ReadonlyArray<Update.Update> = [
  Fixtures.messageCreated(),
  Fixtures.messageCallback(),
  Fixtures.botStarted({ payload: "link" }),
  { update_type: "message_created", timestamp, message },
  { update_type: "message_edited", timestamp, message: channelMessage() },
  { update_type: "message_removed", timestamp, message_id: messageId, chat_id: groupId, user_id: userId },
  { update_type: "comment_created", timestamp, message: comment() },
  { update_type: "bot_added", ...inChat, is_channel: false },
  { update_type: "user_added", ...inChat, inviter_id: userId },
  { update_type: "dialog_muted", ...inChat, muted_until: timestamp },
  {
    update_type: "bot_admin_permissions_changed",
    timestamp,
    chat_id: groupId,
    user_id: userId,
    permissions: ["write"]
  },
  {
    update_type: "unknown",
    raw: { update_type: "comet_seen", timestamp, chat_id: 1, message: { recipient: { chat_id: 2 } } }
  }
]

export const updateTexts = samples.map((update) => Json.stringify(Schema.encodeUnknownSync(Update.Update)(update)))

/** Reads an update as handlers do. Returns the texts of the update. */
export const read = (update: Update.Update): ReadonlyArray<string> => [
  inspect([Update.chatOf(update), Update.chatTypeOf(update), Update.userIdOf(update), Update.userOf(update)]),
  Text.toHtml(Text.fromBody(Update.messageOf(update)?.body ?? {})),
  Update.textOf(update) ?? "",
  QueuedUpdate.fingerprintOf(update),
  QueuedUpdate.defaultPartitionKey(update),
  Json.stringify(Schema.encodeUnknownSync(Update.Update)(update))
]

export const parsing: Target = {
  name: "update",
  input: mutations(updateTexts),
  start: Effect.succeed({
    take: (text) =>
      Effect.sync(() => {
        const parsed = Update.parse(text)
        if (Result.isSuccess(parsed)) return read(parsed.success)
        const { message, raw } = parsed.failure
        return [message, inspect(raw), Json.stringify(raw), QueuedUpdate.fingerprintOfText(text)]
      })
  })
}

/** An inbox in memory with a consumer. After all inputs the consumer must run and the inbox must be empty. */
export const startConsumer = Effect.gen(function* () {
  const inbox = yield* Inbox.Inbox
  const source = Updates.Updates.of({ inbox, source: Effect.never })
  const consumer = yield* Bot.run((update) => Effect.sync(() => void read(update)), {
    retry: Schedule.recurs(0)
  }).pipe(Effect.provideService(Updates.Updates, source), Effect.forkScoped)
  const check = Effect.gen(function* () {
    yield* Effect.repeat(Effect.orDie(inbox.stats), {
      until: ({ queued }) => queued === 0 || consumer.pollUnsafe() !== undefined
    }).pipe(Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.fail("updates stay queued") }))
    const exit = consumer.pollUnsafe()
    if (exit !== undefined) return yield* Effect.fail(`the consumer ended: ${inspect(exit)}`)
    const handlerErrors = yield* Stream.runCollect(
      Stream.filter(Inbox.deadLetters, ({ attempts }) => attempts > 0)
    ).pipe(Effect.provideService(Inbox.Inbox, inbox), Effect.orDie)
    if (handlerErrors.length > 0) return yield* Effect.fail(`a getter failed: ${handlerErrors[0].error}`)
  })
  return { inbox, check }
})

const memory = Inbox.layerMemory({ capacity: 1_000_000 })

export const webhook: Target = {
  name: "webhook",
  input: mutations(updateTexts),
  start: Effect.gen(function* () {
    const context = yield* Layer.build(
      Layer.provideMerge(
        Webhook.layerReceiver({ url: "https://bot.example/updates", secret: Redacted.make(secret) }),
        memory
      )
    )
    const { check } = yield* Effect.provideContext(startConsumer, context)
    const handle = yield* Effect.provideContext(Webhook.toWebHandler, context)
    const headers = { "content-type": "application/json", "x-svc-bot-api-secret": secret }
    const take = (body: string) =>
      Effect.gen(function* () {
        const request = new Request("https://bot.example/updates", { method: "POST", headers, body })
        const response = yield* Effect.promise(() => handle(request))
        if (response.status !== 200 && response.status !== 413) return yield* Effect.die(`status ${response.status}`)
        return [yield* Effect.promise(() => response.text())]
      })
    return { take, check }
  })
}

/** A client that receives the given text with each response. */
export const respondingClient = (respond: () => { readonly status: number; readonly text: string }) =>
  BotApi.layer({ token: Redacted.make(token), baseUrl: "https://api.example" }).pipe(
    Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited)),
    Layer.provide(
      Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.sync(() => {
            const { status, text } = respond()
            return Object.defineProperties(HttpClientResponse.fromWeb(request, new Response(null)), {
              status: { value: status },
              text: { value: Effect.succeed(text) }
            })
          })
        )
      )
    )
  )

const pages = [
  `{"updates":[${updateTexts.join(",")}],"marker":9100000000000000001}`,
  ...updateTexts.map((text) => `{"updates":[${text},${updateTexts[2]}],"marker":1}`)
]

export const polling: Target = {
  name: "polling",
  input: mutations(pages, [token]),
  start: Effect.gen(function* () {
    let page = ""
    const client = respondingClient(() => ({ status: 200, text: page }))
    const { check, inbox } = yield* Effect.provideContext(startConsumer, yield* Layer.build(memory))
    const take = (text: string) =>
      Effect.gen(function* () {
        page = text
        const { marker, updates } = yield* RetryPolicy.override(Updates.list({ timeout: 0 }), RetryPolicy.none)
        yield* inbox.receive(
          updates.map((decoded) => ({ decoded })),
          marker == null ? undefined : { source: "updates", value: marker }
        )
        return []
      }).pipe(Effect.provide(client))
    return { take, check }
  })
}
