import { Inbox, Webhook } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { once } from "node:events"
import type * as http from "node:http"
import * as net from "node:net"

export const secret = "a-secret-for-tests"

export const url = "https://bot.example/updates"

type Store = InboxStore.InboxStore["Service"]

/** An inbox in memory with a modified store. */
export const inbox = (change: (store: Store) => Partial<Store> = () => ({})) =>
  Inbox.layer().pipe(
    Layer.provide(
      Layer.effect(
        InboxStore.InboxStore,
        InboxStore.InboxStore.use((store) => Effect.succeed({ ...store, ...change(store) }))
      )
    ),
    Layer.provide(InboxStore.layerMemory)
  )

export const receiver = (options: Partial<Webhook.ReceiverOptions> = {}, over: Layer.Layer<Inbox.Inbox> = inbox()) =>
  Webhook.layerReceiver({ url, secret, ...options }).pipe(Layer.provideMerge(over))

export const started = (timestamp = 1, name = "Анна 👋") =>
  JSON.stringify({
    update_type: "bot_started",
    timestamp,
    chat_id: 1,
    user: { user_id: 1, first_name: name, is_bot: false }
  })

export const headers = { "content-type": "application/json", "x-svc-bot-api-secret": secret }

export const queued = Inbox.Inbox.use((inbox) => Effect.map(inbox.stats, ({ queued }) => queued))

/** The texts of the queued updates, in order. */
export const texts = Inbox.Inbox.use(({ store }) =>
  Effect.map(
    store.claim({ owner: "test", leaseDuration: 0, maxPartitions: 100, maxUpdates: 1000, begin: 0 }),
    (partitions) => partitions.flatMap(({ updates }) => updates.map(({ update }) => update.text))
  )
)

/** Waits until the condition holds. */
export const until = <A, E, R>(effect: Effect.Effect<A, E, R>, isSo: (value: A) => boolean) =>
  Effect.repeat(effect, { until: isSo, schedule: Schedule.spaced("5 millis") })

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export const post = (address: string, init: RequestInit = {}): Effect.Effect<Reply> =>
  Effect.promise(async () => {
    const response = await fetch(address, {
      method: "POST",
      body: started(),
      ...init,
      headers: { ...headers, ...(init.headers as Record<string, string>) }
    })
    return { status: response.status, headers: response.headers, body: await response.text() }
  })

/** Listens with a handler of `node:http`, and returns the origin. */
export const listen = (server: http.Server) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

/** A connection to which a test writes raw requests. */
export const connect = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = net.connect(port, "127.0.0.1")
      socket.on("error", () => {})
      await once(socket, "connect")
      let received = ""
      let isClosed = false
      socket.on("data", (chunk: Buffer) => {
        received += chunk.toString()
      })
      socket.on("close", () => {
        isClosed = true
      })
      return {
        socket,
        received: Effect.sync(() => received),
        isClosed: Effect.sync(() => isClosed),
        write: (bytes: string | Uint8Array) => Effect.promise(() => new Promise((done) => socket.write(bytes, done)))
      }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )
