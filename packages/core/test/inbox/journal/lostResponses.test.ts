import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { Bot, BotApi, Handler, Inbox, LongPolling, Messages, RateLimiter, Timer, Update } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { shifted } from "../../support/clocks.ts"

type Response = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

/** A bot whose HTTP client is changed. */
const platform = (
  transform: (response: Response, request: HttpClientRequest.HttpClientRequest) => Response,
  inbox: Layer.Layer<Inbox.Inbox> = Inbox.layerMemory()
) =>
  LongPolling.layer().pipe(
    Layer.provideMerge(inbox),
    Layer.provideMerge(
      BotApi.layer({ token: Redacted.make("emulator-token"), baseUrl: Emulator.baseUrl }).pipe(
        Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited)),
        Layer.provide(
          Layer.effect(
            HttpClient.HttpClient,
            HttpClient.HttpClient.use((client) => Effect.succeed(HttpClient.transform(client, transform)))
          )
        )
      )
    )
  )

const hangUp = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.fail(
    new HttpClientError.HttpClientError({
      reason: new HttpClientError.TransportError({ request, cause: new Error("socket hang up") })
    })
  )

const isMessage = (request: HttpClientRequest.HttpClientRequest): boolean =>
  request.method === "POST" && new URL(request.url).pathname.endsWith("/messages")

const textOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

const pass = (seconds: number) => Effect.repeat(TestClock.adjust("100 millis"), { times: seconds * 10 })

const textsOfBot = Effect.fnUntraced(function* (chat: Parameters<typeof Emulator.messages>[0]) {
  const messages = yield* Emulator.messages(chat)
  return messages.flatMap(({ body, sender }) => (sender?.is_bot === true ? [body?.text] : []))
})

const Later = Timer.make("later", Schema.String)

/** Tells how often "accepted" is sent if the first response to it is lost, by a bot whose clock is ahead. */
const sentByClock = (options: { readonly isSet: boolean; readonly withTimer: boolean }) =>
  Effect.gen(function* () {
    const platformClock = yield* Clock.Clock
    let isLost = false
    let ahead = options.isSet ? 0 : 5000
    const layer = platform((response, request) => {
      const onTime = Effect.provideService(response, Clock.Clock, platformClock)
      if (isLost || !textOf(request).includes("accepted")) return onTime
      isLost = true
      return Effect.andThen(onTime, hangUp(request))
    })
    const bot = Handler.first(
      Handler.on("message_created", (update) =>
        Update.textOf(update) === "order"
          ? Messages.reply(update, "accepted")
          : options.withTimer
            ? Later.in("1 second", "now")
            : Messages.reply(update, "Hello")
      ),
      Later.on((_, update) => Messages.reply(update, "reminder"))
    )
    const ann = yield* Emulator.user("Ann")
    yield* Bot.run(bot).pipe(
      Effect.provide(layer),
      Effect.provideService(
        Clock.Clock,
        shifted(platformClock, () => ahead)
      ),
      Effect.forkScoped
    )
    yield* pass(1)
    const { recipient } = yield* ann.send("Hi")
    yield* pass(5)
    ahead = 5000
    yield* ann.send("order")
    yield* pass(30)
    assert.isTrue(isLost)
    return (yield* textsOfBot({ chat_id: recipient.chat_id! })).filter((text) => text === "accepted").length
  }).pipe(Effect.scoped, Effect.provide(Emulator.layer()))

describe("a message whose response was lost", () => {
  it.effect("is found by a process whose clock is ahead, before and after a timer", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sentByClock({ isSet: false, withTimer: false }), 1)
      assert.strictEqual(yield* sentByClock({ isSet: false, withTimer: true }), 1)
    })
  )

  it.effect("is found by a process whose clock was set forward", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sentByClock({ isSet: true, withTimer: false }), 1)
    })
  )

  it.effect("is found by the process that has sent it, if this process has lost the chat and claimed it again", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const bot = Handler.on("message_created", (update) =>
        Effect.andThen(Messages.reply(update, "Your order is accepted"), Effect.sleep("2 seconds"))
      )
      /** The process loses the chat when it has received the first answer and is about to record it. */
      const store = Effect.map(InboxStore.makeMemory, (store) => {
        let isLost = false
        return InboxStore.InboxStore.of({
          ...store,
          isShared: true,
          write: (writes) =>
            Effect.suspend(() => {
              const isAnswer = writes.some(({ rows }) => rows.some(({ key }) => key.startsWith("done:")))
              if (isLost || !isAnswer) return store.write(writes)
              isLost = true
              return Effect.andThen(store.renew(writes[0]!.journal!.owner, 0), store.write(writes))
            })
        })
      })
      const inbox = Inbox.layer().pipe(Layer.provide(Layer.effect(InboxStore.InboxStore, store)))
      yield* Bot.run(bot).pipe(Effect.provide(platform((response) => response, inbox)), Effect.forkScoped)
      yield* pass(1)
      const { recipient } = yield* ann.send("order")
      yield* pass(30)
      assert.deepStrictEqual(yield* textsOfBot({ chat_id: recipient.chat_id! }), ["Your order is accepted"])
    }).pipe(Effect.scoped, Effect.provide(Emulator.layer()))
  )
})

describe("a message whose call is interrupted before the platform carries it out", () => {
  /** Sends "accepted" from a handler. The first request takes a second to the platform, and its client does not wait for it. */
  const sent = <R>(
    interrupted: (
      bot: (scope: Scope.Scope) => Effect.Effect<unknown, never, HttpClient.HttpClient>
    ) => Effect.Effect<unknown, never, R>
  ) =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      const network = yield* Effect.scope
      let isFirst = true
      const layer = platform(
        (response, request) => {
          if (!isFirst || !isMessage(request)) return response
          isFirst = false
          return Effect.andThen(Effect.forkIn(Effect.delay(response, "1 second"), network), Effect.never)
        },
        Inbox.layer().pipe(Layer.provide(Layer.succeed(InboxStore.InboxStore, { ...store, isShared: true })))
      )
      const handler = Handler.on("message_created", (update) => Messages.reply(update, "accepted"))
      const bot = Bot.run(handler, { timeout: "700 millis", retry: Schedule.recurs(2) }).pipe(Effect.provide(layer))
      const ann = yield* Emulator.user("Ann")
      const { recipient } = yield* ann.send("order")
      yield* interrupted((scope) => Effect.forkIn(bot, scope))
      yield* pass(10)
      assert.isFalse(isFirst)
      assert.deepStrictEqual(yield* textsOfBot({ chat_id: recipient.chat_id! }), ["accepted"])
    }).pipe(Effect.scoped, Effect.provide(Emulator.layer()))

  it.effect("is found by the next attempt", () => sent((bot) => Effect.flatMap(Effect.scope, bot)))

  it.effect("is found by the next process", () =>
    sent((bot) =>
      Effect.gen(function* () {
        const first = yield* Scope.make()
        yield* bot(first)
        yield* pass(0.5)
        yield* Scope.close(first, Exit.void)
        yield* bot(yield* Effect.scope)
      })
    )
  )
})

describe("an equal message that is on its way", () => {
  for (const inHandler of [true, false]) {
    it.effect(`is not taken for one that was lost: sent ${inHandler ? "by a handler" : "outside of handlers"}`, () =>
      Effect.gen(function* () {
        let requests = 0
        /** The response to the first message takes 4 seconds. The connection of the second breaks before the platform gets it. */
        const layer = platform((response, request) => {
          if (!isMessage(request)) return response
          requests++
          if (requests === 1) return Effect.tap(response, () => Effect.sleep("4 seconds"))
          return requests === 2 ? hangUp(request) : response
        })
        const operator = yield* (yield* Emulator.user("Operator")).start()
        const tell = Messages.send({ chat_id: operator.chat_id, text: "A new order" })
        const bot = Handler.filter(
          Handler.on("message_created", () => tell),
          (update) => Update.chatOf(update) !== operator.chat_id
        )
        const [ann, bob] = [yield* Emulator.user("Ann"), yield* Emulator.user("Bob")]
        yield* Effect.gen(function* () {
          yield* Effect.forkScoped(Bot.run(bot))
          yield* inHandler ? ann.send("order") : Effect.forkScoped(tell)
          yield* pass(0.2)
          yield* bob.send("order")
          yield* pass(12)
        }).pipe(Effect.provide(layer))
        assert.strictEqual(requests, 3)
        assert.deepStrictEqual(yield* textsOfBot(operator), ["A new order", "A new order"])
      }).pipe(Effect.scoped, Effect.provide(Emulator.layer()))
    )
  }
})
