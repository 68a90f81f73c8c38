import { ChatStore, Inbox, QueuedUpdate, StoreError, Timer, Update } from "@colloquy/core"
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import { ChatId } from "@colloquy/core/model/Recipient"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { NodeBoard } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const token = "a token of the board"

const updateOf = (chat_id: number): QueuedUpdate.QueuedUpdate => {
  const user = { user_id: 7, first_name: "Anna", is_bot: false }
  const text = JSON.stringify({ update_type: "bot_started", timestamp: 1, chat_id, user })
  const decoded = Update.parse(text)
  if (Result.isFailure(decoded)) throw decoded.failure
  return QueuedUpdate.fromDecoded(decoded, { receivedAt: 1, text })
}

/** Stores dead letters with these errors, of the chats 1, 2 and so on. */
const fail = (...errors: ReadonlyArray<string>) =>
  Inbox.Inbox.use(({ store }) =>
    store.enqueue({
      updates: [],
      deadLetters: errors.map((error, index) => ({ update: updateOf(index + 1), error })),
      now: 1,
      duplicatesSince: 0
    })
  )

const stats = Effect.flatMap(Inbox.Inbox, ({ stats }) => stats)

/** What a board answers: its status and its JSON. */
const makeBoard = Effect.map(NodeBoard.toWebHandler({ token }), (handle) => {
  const send = (method: string, path: string, given: string | null = token) =>
    Effect.promise(async () => {
      const headers = given === null ? {} : { "x-colloquy-token": given }
      const response = await handle(new Request(`http://127.0.0.1/board/${path}`, { method, headers }))
      const text = await response.text()
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
      // oxlint-disable-next-line typescript/no-explicit-any
      const body: any = isJson ? JSON.parse(text) : text
      return { status: response.status, headers: response.headers, body }
    })
  return {
    send,
    get: (path: string) => Effect.map(send("GET", `api/${path}`), ({ body }) => body),
    post: (path: string) => Effect.map(send("POST", `api/${path}`), ({ body, status }) => [status, body] as const)
  }
})

const lines: Array<string> = []

const log = Logger.layer([Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))])

/** Runs a test with an empty bot in memory, and returns the lines of its log. */
const onBoard = <A, E>(
  test: (board: Effect.Success<typeof makeBoard>) => Effect.Effect<A, E, Inbox.Inbox | Stores>
) => {
  lines.length = 0
  return Effect.flatMap(makeBoard, test).pipe(
    Effect.scoped,
    Effect.provide([Inbox.layerMemory(), ChatStore.layerMemory, BroadcastStore.layerMemory, log])
  )
}

type Stores = ChatStore.ChatStore | BroadcastStore.BroadcastStore

describe("the token of a board", () => {
  it.effect("is needed for all data and all actions", () =>
    onBoard(({ send }) =>
      Effect.gen(function* () {
        yield* fail("mistake")
        const paths = ["status", "updates", "dead", "chats", "timers", "broadcasts", "unknown"]
        const actions = ["replay?id=1", "drop?id=1", "replay-all", "stop-replay", "pause", "resume", "pause-broadcast"]
        const wrong = [
          [null, 401],
          ["", 403],
          ["a token of the boarD", 403],
          [`${token}.`, 403]
        ] as const
        for (const [method, names] of [
          ["GET", paths],
          ["POST", actions]
        ] as const) {
          for (const name of names) {
            for (const [given, status] of wrong) {
              const answer = yield* send(method, `api/${name}`, given)
              assert.strictEqual(answer.status, status, `${name} ${given}`)
              assert.deepStrictEqual(Object.keys(answer.body as object), ["message"])
            }
          }
        }
        assert.strictEqual((yield* stats).deadLetters, 1)
        assert.isFalse(yield* Inbox.isPaused)
        assert.deepStrictEqual(lines, [])
      })
    )
  )

  it.effect("has at least 16 characters", () =>
    Effect.gen(function* () {
      const short = Redacted.make("fifteen letters")
      const error = yield* Effect.flip(NodeBoard.toWebHandler({ token: short }))
      assert.strictEqual(error.message, "The token of the board must have at least 16 characters.")
      yield* NodeBoard.toWebHandler({ token: Redacted.make("sixteen letters.") })
    }).pipe(Effect.scoped, Effect.provide(Inbox.layerMemory()))
  )
})

describe("the data of a board", () => {
  it.effect("are those of the stores, and a list that is cut off says so", () =>
    onBoard(({ get }) =>
      Effect.gen(function* () {
        yield* fail("Error: one", "Error: two", "Error: ONE")
        const store = yield* ChatStore.ChatStore
        const chat = Result.getOrThrow(
          Schema.decodeUnknownResult(ChatStore.KnownChat)({ chat_id: 5, title: "Team", first_seen: 1, last_seen: 2 })
        )
        yield* store.upsert([ChatRecord.fromKnownChat(chat)])
        const broadcasts = yield* BroadcastStore.BroadcastStore
        yield* broadcasts.acquireLease({ name: "news", owner: "one", leaseDuration: 0, create: true })
        yield* Timer.make("tea", Schema.String)
          .for({ chat_id: ChatId.make(5) })
          .in("5 minutes", "green")
        assert.deepInclude(yield* get("status"), { queued: 0, dead_letters: 3, paused: false, conversations: [] })
        const dead = yield* get("dead?limit=2")
        assert.deepStrictEqual(
          [dead.rows.map(({ error }: { error: string }) => error), dead.more],
          [["Error: one", "Error: two"], true]
        )
        assert.deepInclude(dead.rows[0], { kind: "bot_started", chat: "1", attempts: 0, failed_at: 1 })
        const ones = yield* get("dead?cause=one")
        assert.deepStrictEqual([ones.rows.length, ones.more], [2, false])
        assert.strictEqual((yield* get("dead?chat=2")).rows.length, 1)
        assert.deepStrictEqual(yield* get("updates"), { rows: [], more: false })
        assert.deepInclude((yield* get("chats")).rows[0], { chat_id: 5, title: "Team" })
        assert.deepInclude((yield* get("timers")).rows[0], { name: "tea", due_at: 300_000 })
        assert.deepInclude((yield* get("broadcasts")).rows[0], { name: "news", status: "running", started_at: 0 })
      })
    )
  )

  it.effect("without a store of chats and broadcasts say that there is none", () =>
    Effect.gen(function* () {
      const { get } = yield* makeBoard
      assert.deepStrictEqual(yield* get("chats"), { message: "The program of the board has no chats." })
      assert.deepStrictEqual(yield* get("broadcasts"), { message: "The program of the board has no broadcasts." })
    }).pipe(Effect.scoped, Effect.provide(Inbox.layerMemory()))
  )

  it.effect("and actions have no other methods and names", () =>
    onBoard(({ send }) =>
      Effect.gen(function* () {
        const status = (method: string, path: string) => Effect.map(send(method, path), (answer) => answer.status)
        assert.strictEqual(yield* status("DELETE", "api/dead"), 405)
        assert.strictEqual(yield* status("GET", "api/replay"), 404)
        assert.strictEqual(yield* status("POST", "api/status"), 404)
        assert.strictEqual(yield* status("POST", "page.js"), 405)
        assert.strictEqual(yield* status("GET", "other.js"), 404)
        assert.strictEqual(yield* status("GET", "..%2f..%2fpackage.json"), 404)
      })
    )
  )
})

describe("an action of a board", () => {
  it.effect("replays and deletes a dead letter, and is in the log", () =>
    onBoard(({ get, post }) =>
      Effect.gen(function* () {
        yield* fail("one", "two", "three")
        const [{ id: first }, { id: second }] = (yield* get("dead")).rows
        assert.deepStrictEqual(yield* post(`replay?id=${first}`), [200, { done: `Replayed the dead letter ${first}.` }])
        assert.deepStrictEqual(yield* post(`drop?id=${second}`), [200, { done: `Deleted the dead letter ${second}.` }])
        assert.deepInclude(yield* stats, { queued: 1, deadLetters: 1 })
        assert.strictEqual((yield* post(`replay?id=${first}`))[0], 404)
        assert.deepStrictEqual(lines, [
          `Info Board: Replayed the dead letter ${first}.`,
          `Info Board: Deleted the dead letter ${second}.`,
          `Info Board: did not replay. There is no dead letter ${first}.`
        ])
      })
    )
  )

  it.effect("replays many dead letters at a rate, one replay at a time, and can be stopped", () =>
    onBoard(({ get, post }) =>
      Effect.gen(function* () {
        yield* fail(...Array.from({ length: 30 }, (_, index) => (index < 5 ? "other" : "mistake")))
        const replay = "replay-all?cause=mistake&rate=10"
        assert.deepStrictEqual(yield* post(replay), [200, { done: "Began to replay 25 dead letters, 10 in a second." }])
        yield* TestClock.adjust("950 millis")
        assert.deepStrictEqual((yield* get("status")).replay, { total: 25, done: 10 })
        assert.deepInclude(yield* stats, { queued: 10, deadLetters: 20 })
        assert.strictEqual((yield* post(replay))[0], 409)
        assert.deepStrictEqual(yield* post("stop-replay"), [200, { done: "Stopped the replay after 10 dead letters." }])
        yield* TestClock.adjust("1 minute")
        assert.isUndefined((yield* get("status")).replay)
        assert.strictEqual((yield* post("stop-replay"))[0], 409)
        yield* post(replay)
        yield* TestClock.adjust("1 minute")
        assert.deepInclude(yield* stats, { queued: 25, deadLetters: 5 })
        assert.deepStrictEqual(lines, [
          "Info Board: Began to replay 25 dead letters, 10 in a second.",
          "Info Board: did not replay all. A replay is running. Stop it first.",
          "Info Board: the replay of 25 dead letters stopped after 10 of them.",
          "Info Board: Stopped the replay after 10 dead letters.",
          "Info Board: did not stop replay. No replay is running.",
          "Info Board: Began to replay 15 dead letters, 10 in a second.",
          "Info Board: the replay of 15 dead letters finished after 15 of them."
        ])
      })
    )
  )

  it.effect("pauses and resumes the inbox and a broadcast", () =>
    onBoard(({ get, post }) =>
      Effect.gen(function* () {
        const broadcasts = yield* BroadcastStore.BroadcastStore
        yield* broadcasts.acquireLease({ name: "news & more", owner: "one", leaseDuration: 0, create: true })
        const statusOf = Effect.map(get("broadcasts"), ({ rows }) => rows[0].status as unknown)
        const name = encodeURIComponent("news & more")
        yield* post("pause")
        assert.isTrue(yield* Inbox.isPaused)
        yield* post("resume")
        assert.isFalse(yield* Inbox.isPaused)
        yield* post(`pause-broadcast?name=${name}`)
        assert.strictEqual(yield* statusOf, "paused")
        yield* post(`resume-broadcast?name=${name}`)
        assert.strictEqual(yield* statusOf, "running")
        assert.strictEqual((yield* post("pause-broadcast?name=old"))[0], 409)
        assert.deepStrictEqual(lines, [
          "Info Board: Paused the inbox.",
          "Info Board: Resumed the inbox.",
          'Info Board: Paused the broadcast "news & more".',
          'Info Board: Resumed the broadcast "news & more".',
          'Info Board: did not pause broadcast. The broadcast "old" is over, or does not exist.'
        ])
      })
    )
  )
})

describe("a board whose store is away", () => {
  const reason = "the disk is full"
  const away = new StoreError.StoreError({
    store: "inbox",
    operation: "stats",
    reason,
    isRetryable: true,
    cause: reason
  })
  const inbox = Layer.provide(
    Inbox.layer(),
    Layer.effect(
      InboxStore.InboxStore,
      Effect.map(InboxStore.makeMemory, (store) =>
        InboxStore.InboxStore.of({ ...store, stats: Effect.fail(away), takeDeadLetters: () => Effect.fail(away) })
      )
    )
  )

  it.effect("answers with 503 and the reason, which is in the log of actions", () =>
    Effect.gen(function* () {
      lines.length = 0
      const { post, send } = yield* makeBoard
      yield* fail("mistake")
      const view = yield* send("GET", "api/status")
      assert.strictEqual(view.status, 503)
      assert.include(view.body.message, reason)
      assert.strictEqual((yield* post("replay?id=1"))[0], 503)
      yield* post("replay-all")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        lines.map((line) => line.replace(away.message, "REASON")),
        [
          "Info Board: did not replay. REASON",
          "Info Board: Began to replay 1 dead letter, 10 in a second.",
          "Info Board: the replay of 1 dead letter failed after 0 of them. REASON"
        ]
      )
    }).pipe(Effect.scoped, Effect.provide([inbox, log]))
  )
})

describe("the page of a board", () => {
  it.effect("needs no token, and cannot be framed or load anything from other hosts", () =>
    onBoard(({ send }) =>
      Effect.gen(function* () {
        const { body, headers, status } = yield* send("GET", "", null)
        assert.strictEqual(status, 200)
        assert.include(body, "page.js")
        assert.include(headers.get("content-security-policy"), "default-src 'self'; ")
        assert.include(headers.get("content-security-policy"), "frame-ancestors 'none'")
        for (const file of ["page.js", "page.css", "icon.svg"]) {
          assert.strictEqual((yield* send("GET", file, null)).status, 200)
        }
      })
    )
  )

  it.live("is served by a server of Node below a path, which ends with a slash", () =>
    Effect.gen(function* () {
      const server = createServer(yield* NodeBoard.toNodeHandler({ token }))
      yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const answers = yield* Effect.promise(async () => {
        const page = await fetch(`${url}/admin/board`)
        const data = await fetch(`${url}/admin/board/api/status`, { headers: { "x-colloquy-token": token } })
        const head = await fetch(`${url}/admin/board/`, { method: "HEAD" })
        return [page.url, page.status, (await data.json()) as { readonly queued: number }, head.status] as const
      })
      assert.deepStrictEqual(
        [answers[0], answers[1], answers[2].queued, answers[3]],
        [`${url}/admin/board/`, 200, 0, 200]
      )
      server.close()
      server.closeAllConnections()
    }).pipe(Effect.scoped, Effect.provide(Inbox.layerMemory()))
  )
})
