import { Answers, Keyboard, Messages, Subscriptions } from "@colloquy/core"
import { Emulator, EmulatorEvent, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { connect } from "node:net"
import { getOk, postOk } from "../../support/control.ts"
import { eventStream } from "../../support/eventStream.ts"
import { httpClient } from "../../support/httpClient.ts"

type Event = EmulatorEvent.EmulatorEvent

const isType = (type: Event["type"]) => (event: Event) => event.type === type

/** The events until now. */
const past = Effect.gen(function* () {
  const { next_event } = yield* getOk("/state")
  return yield* Stream.runCollect(Stream.take(Emulator.events, next_event))
})

const typesOf = (events: ReadonlyArray<Event>): ReadonlyArray<string> => events.map(({ type }) => type)

const keyboard = [Keyboard.make([Keyboard.callback("Yes", "yes")])]

const inEmulator = <A, E>(test: Effect.Effect<A, E, Layer.Success<ReturnType<typeof Emulator.layerBot>>>) =>
  Effect.provide(test, Emulator.layerBot())

describe("Emulator.events", () => {
  it.effect("is one sequence of the actions of people and bots, with their ids", () =>
    inEmulator(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        const { chat_id } = yield* ann.start("poster")
        const sent = yield* Messages.send({ user_id: ann.user_id, text: "Sure?", attachments: keyboard })
        const callback_id = yield* ann.press(sent, "Yes")
        yield* Answers.send({ callback_id: callback_id!, notification: "Noted", message: { text: "Done" } })
        yield* Messages.remove({ message_id: sent.body!.mid })
        const events = (yield* past).filter(({ id }) => id > 0)
        assert.deepStrictEqual(typesOf(events), [
          "user",
          "chat",
          "chat",
          "update",
          "message",
          "request",
          "press",
          "update",
          "edited",
          "answer",
          "request",
          "removed",
          "request"
        ])
        assert.deepStrictEqual(
          events.map(({ id }) => id),
          events.map((_, index) => index + 1)
        )
        const inChat = events.filter(({ type }) => type !== "user")
        const { user_id: bot_id } = (yield* Emulator.bots)[0]
        assert.isTrue(inChat.every((event) => "chat_id" in event && event.chat_id === chat_id))
        assert.isTrue(inChat.every((event) => "bot_id" in event && event.bot_id === bot_id))
        const [edited] = events.filter((event) => event.type === "edited")
        assert.deepStrictEqual([edited.previous.body?.text, edited.message.body?.text], ["Sure?", "Done"])
        const [press] = events.filter((event) => event.type === "press")
        assert.deepStrictEqual([press.button, press.callback_id], [[0, 0], callback_id])
        const [answer] = events.filter((event) => event.type === "answer")
        assert.deepStrictEqual([answer.notification, answer.user_id], ["Noted", ann.user_id])
        const requests = events.filter((event) => event.type === "request")
        assert.deepStrictEqual(
          requests.map(({ endpoint, message_id, number, status }) => [number, endpoint, status, message_id]),
          [
            [0, "Messages.send", 200, sent.body!.mid],
            [1, "Answers.send", 200, sent.body!.mid],
            [2, "Messages.remove", 200, sent.body!.mid]
          ]
        )
        assert.isTrue(events.every((event) => EmulatorEvent.eventTypes.includes(event.type)))
      })
    )
  )

  it.effect("has the use of the limits by each request, and the faults that were applied", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* ann.start()
      yield* Emulator.setFaults([{ endpoint: "Messages.send", nth: 2, status: 400 }])
      yield* Messages.send({ user_id: ann.user_id, text: "1" })
      yield* Effect.ignore(Messages.send({ user_id: ann.user_id, text: "2" }))
      yield* Messages.send({ user_id: ann.user_id, text: "3" })
      const events = yield* past
      assert.deepStrictEqual(
        events.flatMap((event) =>
          event.type === "request" ? [event.limits.map(({ limit, scope, used }) => `${scope} ${used}/${limit}`)] : []
        ),
        [["host 1/30", "messages 1/2"], [], ["host 2/30", "messages 2/2"]]
      )
      const [fault] = events.filter((event) => event.type === "fault")
      assert.deepStrictEqual([fault.target, fault.matched, fault.applied], ["POST /messages", 2, 1])
    }).pipe(Effect.provide(Emulator.layerBot({ limits: {} })))
  )

  it.effect("has each attempt to deliver, and when the next is due; a delivery without a subscription is dead", () =>
    inEmulator(
      Effect.gen(function* () {
        const url = "https://bot.example/updates"
        yield* Subscriptions.subscribe({ url })
        yield* (yield* Emulator.user("Ann")).start()
        yield* TestClock.adjust("70 seconds")
        assert.deepStrictEqual((yield* getOk("/clock")).next_due, { at: 210_000, what: "delivery" })
        const { waiting } = yield* getOk("/deliveries")
        assert.deepStrictEqual(
          waiting.map(({ attempt, due_at }: { attempt: number; due_at: number }) => [attempt, due_at]),
          [[3, 210_000]]
        )
        yield* postOk("/deliver_now", { delivery_id: waiting[0].delivery_id })
        yield* Effect.yieldNow
        yield* TestClock.adjust(1)
        yield* Subscriptions.unsubscribe({ url })
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(
          (yield* past).flatMap((event) =>
            event.type === "delivery" ? [[event.attempt, event.at, event.state, event.next_at, event.failure]] : []
          ),
          [
            [1, 0, "failed", 60_000, "Unreachable"],
            [2, 60_000, "failed", 210_000, "Unreachable"],
            [3, 70_000, "failed", 445_000, "Unreachable"],
            [4, 70_001, "dead", null, "Unsubscribed"]
          ]
        )
        assert.deepStrictEqual((yield* getOk("/deliveries")).waiting, [])
      })
    )
  )

  it.effect("starts with a gap if the first events are no longer kept", () =>
    inEmulator(
      Effect.gen(function* () {
        const ann = yield* Emulator.user("Ann")
        yield* ann.start()
        for (let i = 0; i < 50_500; i++) yield* ann.send("x")
        const [first, second] = yield* Stream.runCollect(Stream.take(Emulator.events, 2))
        assert.strictEqual(first.type, "gap")
        assert.strictEqual(first.id, 49_999)
        assert.strictEqual(second.id, first.id + 1)
      })
    )
  )
})

const server = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer()), Layer.merge(httpClient))

/** Sends a message to a person as the bot, over a socket. */
const sendAsBot = (url: string, user_id: number, text: string) =>
  Emulator.Emulator.use(({ token }) =>
    HttpClient.execute(
      HttpClientRequest.post(`${url}/messages?user_id=${user_id}`, {
        headers: { authorization: Redacted.value(token) }
      }).pipe(HttpClientRequest.bodyText(JSON.stringify({ text }), "application/json"))
    )
  )

const onServer = <A, E>(name: string, test: (url: string) => Effect.Effect<A, E, Layer.Success<typeof server>>): void =>
  it.live(name, () =>
    Effect.provide(
      EmulatorServer.EmulatorServer.use(({ url }) => test(url)),
      Layer.fresh(server)
    )
  )

describe("GET /_emulator/events", () => {
  onServer("streams the events of the future, and resumes after Last-Event-ID without a loss", (url) =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const firstTwo = yield* Effect.forkChild(
        Stream.runCollect(Stream.take(eventStream(url, "?from=0&types=message"), 2))
      )
      yield* ann.send("one")
      yield* ann.send("two")
      const received = yield* Fiber.join(firstTwo)
      yield* ann.send("three")
      yield* ann.send("four")
      const rest = yield* Stream.runCollect(Stream.take(eventStream(url, "?types=message", received[0].lastEventId), 3))
      assert.deepStrictEqual(
        rest.map(({ event }) => event.type === "message" && event.message.body?.text),
        ["two", "three", "four"]
      )
    })
  )

  onServer("filters by type, by chat and by bot, and leaves out the details", (url) =>
    Effect.gen(function* () {
      const [ann, ben] = [yield* Emulator.user("Ann"), yield* Emulator.user("Ben")]
      const chat = yield* ann.start()
      yield* ben.send("from Ben")
      yield* ann.send("from Ann")
      const first = (query: string) =>
        Effect.map(
          Stream.runHead(eventStream(url, `?from=0&${query}`)),
          (head) => (head as { value: { event: Event } }).value.event
        )
      const message = yield* first(`types=message&chat_id=${chat.chat_id}`)
      assert.strictEqual(message.type === "message" && message.message.body?.text, "from Ann")
      const update = yield* first("types=update&details=false")
      assert.deepStrictEqual(update.type === "update" && [update.update_type, "update" in update], [
        "bot_started",
        false
      ])
      const { user_id } = (yield* Emulator.bots)[0]
      assert.isTrue(isType("update")(yield* first(`types=update&bot_id=${user_id}`)))
    })
  )

  onServer("writes a message together with its request, before it pauses", (url) =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      yield* ann.start()
      const { stream } = yield* HttpClient.get(`${url}/_emulator/events`)
      const writes = yield* Effect.forkChild(Stream.runCollect(Stream.take(Stream.decodeText(stream), 3)))
      const send = (text: string) => sendAsBot(url, ann.user_id, text)
      yield* send("one")
      yield* Effect.sleep("200 millis")
      yield* send("two")
      const [opening, ...pairs] = yield* Fiber.join(writes)
      assert.strictEqual(opening, ": events\n\n")
      assert.deepStrictEqual(
        pairs.map((text) => [...text.matchAll(/"type":"(\w+)"/g)].map(([, type]) => type)),
        [
          ["message", "request"],
          ["message", "request"]
        ]
      )
    })
  )

  onServer("tells a reader of another run of the emulator that it missed events", (url) =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const [gap] = yield* Stream.runCollect(Stream.take(eventStream(url, "", "zzz-0"), 1))
      assert.strictEqual(gap.event.type, "gap")
      yield* ann.send("after")
      const [next] = yield* Stream.runCollect(Stream.take(eventStream(url, "", gap.lastEventId), 1))
      assert.strictEqual(next.event.id, gap.event.id + 1)
    })
  )

  onServer("skips events for a reader that is further behind than max_lag", (url) =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      for (let i = 0; i < 50; i++) yield* ann.send(`${i}`)
      const [gap] = yield* Stream.runCollect(Stream.take(eventStream(url, "?from=0&max_lag=20"), 1))
      assert.deepStrictEqual([gap.event.type, gap.event.id], ["gap", 104])
    })
  )

  onServer("does not wait for a reader that reads nothing, and keeps no text for it", (url) =>
    Effect.gen(function* () {
      const { hostname, port } = new URL(url)
      const socket = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const socket = connect(Number(port), hostname)
          socket.pause()
          socket.write("GET /_emulator/events?from=0 HTTP/1.1\r\nhost: localhost\r\n\r\n")
          return socket
        }),
        (socket) => Effect.sync(() => void socket.destroy())
      )
      const ann = yield* Emulator.user("Ann")
      const text = "x".repeat(4000)
      for (let i = 0; i < 200; i++) yield* ann.send(text)
      yield* Effect.sleep("100 millis")
      globalThis.gc?.()
      const before = process.memoryUsage().heapUsed
      for (let i = 0; i < 20_000; i++) yield* ann.send(text)
      // The log keeps at most 64 MiB of the 160 MB that the reader did not take.
      assert.isBelow(process.memoryUsage().heapUsed - before, 400 * 2 ** 20)
      assert.isFalse(socket.destroyed)
    }).pipe(Effect.scoped)
  )
})
