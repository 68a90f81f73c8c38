import { Emulator, EmulatorServer, NodeWebhookSender, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundleWorker, hasWorkerd, secret, serveWorker } from "../../../../benchmarks/src/workerd.ts"

const token = "token"

const platform = EmulatorServer.layer().pipe(
  Layer.provideMerge(Emulator.layer({ token, insecureWebhooks: true })),
  Layer.provide(NodeWebhookSender.layer())
)

const textOf = (person: Person.Person) => Effect.map(person.reply, ({ body }) => body?.text)

describe.runIf(hasWorkerd || process.env["CI"] === "true")("DurableObjectBot on workerd", () => {
  const bundle = mkdtempSync(join(tmpdir(), "object-"))

  beforeAll(async () => {
    const input = new URL("../fixtures/bot.ts", import.meta.url)
    await bundleWorker({ input, folder: bundle, conditions: ["source"], durableObject: "Bot" })
  })

  afterAll(() => rmSync(bundle, { recursive: true, force: true }))

  /** Starts the bot on the emulator, and subscribes it. */
  const start = Effect.gen(function* () {
    const { url: baseUrl } = yield* EmulatorServer.EmulatorServer
    const environment = { BOT_TOKEN: token, BOT_BASE_URL: baseUrl, BOT_WEBHOOK_URL: "http://127.0.0.1/updates" }
    const data = mkdtempSync(join(bundle, "data-"))
    let worker = yield* Effect.promise(() => serveWorker(bundle, environment, { data }))
    const { port, url } = worker
    yield* Effect.addFinalizer(() => Effect.promise(() => worker.stop()))
    yield* Effect.promise(() =>
      fetch(new URL("/subscriptions", baseUrl), {
        method: "POST",
        headers: { authorization: token, "content-type": "application/json" },
        body: JSON.stringify({ url, secret })
      })
    )
    return {
      /** Kills workerd, and starts it again on the same port with the same data. */
      restart: Effect.promise(async () => {
        await worker.stop()
        worker = await serveWorker(bundle, environment, { data, port })
      })
    }
  })

  const test = (
    name: string,
    run: () => Effect.Effect<void, unknown, EmulatorServer.EmulatorServer | Emulator.Emulator | Scope.Scope>
  ) => it.live(name, () => Effect.scoped(run()).pipe(Effect.provide(platform)))

  test("answers people one after the other and at the same time, and stores their chats", () =>
    Effect.gen(function* () {
      yield* start
      const ann = yield* Emulator.user("Ann")
      for (const text of ["Hello", "And again"]) {
        yield* ann.send(text)
        assert.strictEqual(yield* textOf(ann), text)
      }
      const names = Array.from({ length: 20 }, (_, index) => `Person ${index}`)
      const replies = yield* Effect.forEach(
        names,
        (name) =>
          Effect.gen(function* () {
            const person = yield* Emulator.user(name)
            yield* person.send(name)
            return yield* textOf(person)
          }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(replies, names)
      yield* ann.send("chats")
      assert.strictEqual(yield* textOf(ann), "21")
    }))

  test("repeats a handler that failed, without another delivery", () =>
    Effect.gen(function* () {
      yield* start
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("fail")
      assert.strictEqual(yield* textOf(ann), "attempt 2")
      assert.isTrue((yield* Emulator.deliveries).every(({ status }) => status === 200))
    }))

  test("carries out a timer by its alarm, also after it was killed, and without a request", () =>
    Effect.gen(function* () {
      const { restart } = yield* start
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("remind in 300")
      assert.strictEqual(yield* textOf(ann), "I will remind you")
      assert.strictEqual(yield* textOf(ann), "the reminder")
      yield* ann.send("remind in 1500")
      assert.strictEqual(yield* textOf(ann), "I will remind you")
      yield* restart
      assert.strictEqual(yield* textOf(ann), "the reminder")
    }))

  test("continues an update after it was killed in the middle, and does nothing twice", () =>
    Effect.gen(function* () {
      const { restart } = yield* start
      const ann = yield* Emulator.user("Ann")
      yield* ann.send("count after a kill")
      assert.strictEqual(yield* textOf(ann), "begin")
      yield* restart
      assert.strictEqual(yield* textOf(ann), "1 in attempt 2")
      yield* ann.send("count")
      assert.strictEqual(yield* textOf(ann), "begin")
      assert.strictEqual(yield* textOf(ann), "2 in attempt 1")
      assert.deepStrictEqual(yield* ann.unread, [])
    }))

  test("continues with the next alarm if updates are left when the time of an alarm is over", () =>
    Effect.gen(function* () {
      yield* start
      const ann = yield* Emulator.user("Ann")
      for (let sent = 0; sent < 6; sent++) yield* ann.send("count")
      for (let count = 1; count <= 6; count++) {
        assert.strictEqual(yield* textOf(ann), "begin")
        assert.strictEqual(yield* textOf(ann), `${count} in attempt 1`)
      }
    }))

  test("sends a broadcast in parts, and continues it after it was killed", () =>
    Effect.gen(function* () {
      const { restart } = yield* start
      const people = yield* Effect.forEach(Array.from({ length: 40 }), (_, index) => Emulator.user(`Person ${index}`))
      for (const person of people) {
        yield* person.send("Hello")
        assert.strictEqual(yield* textOf(person), "Hello")
      }
      yield* Emulator.setFaults([{ endpoint: "Messages.send", delay: 20 }])
      yield* people[0].send("publish")
      assert.strictEqual(yield* textOf(people[10]), "News!")
      yield* restart
      for (const person of [...people.slice(0, 10), ...people.slice(11)]) {
        assert.strictEqual(yield* textOf(person), "News!")
      }
      // Only the request that was in flight when the object was killed may be sent again.
      const unread = yield* Effect.forEach(people, (person) => person.unread)
      assert.isAtMost(unread.flat().length, 1)
    }))

  test("answers each of many people once, while it is killed again and again", () =>
    Effect.gen(function* () {
      const { restart } = yield* start
      const people = yield* Effect.forEach(Array.from({ length: 60 }), (_, index) => Emulator.user(`Person ${index}`))
      yield* Emulator.setFaults([{ endpoint: "Messages.send", delay: 20 }])
      for (const [index, person] of people.entries()) {
        yield* person.send("Hello")
        if (index % 15 !== 14) continue
        // The platform delivers what was not stored again, but later.
        yield* Effect.repeat(Emulator.deliveries, {
          until: (deliveries) =>
            deliveries.length === 2 * (index + 1) && deliveries.every(({ status }) => status === 200)
        })
        yield* restart
      }
      yield* Effect.forEach(
        people,
        (person) => Effect.map(textOf(person), (text) => assert.strictEqual(text, "Hello")),
        {
          concurrency: "unbounded"
        }
      )
      const counts = yield* Effect.forEach(people, ({ dialog }) =>
        Effect.flatMap(dialog, ({ chat_id }) => Effect.map(Emulator.messages(chat_id), ({ length }) => length))
      )
      assert.deepStrictEqual(
        counts,
        people.map(() => 2)
      )
    }))
})
