/**
 * A server that receives deliveries in a separate process: `bare` uses node:http and JSON.parse, `bare-sqlite` also
 * node:sqlite, `memory` and `sqlite` use the webhook with that inbox and no handler. It sends its URL to its parent and, on request, the CPU
 * time that it used. Each request empties the inbox in memory.
 */
import { Inbox, Webhook } from "@colloquy/core"
import { NodeInbox, NodeWebhook } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { secret } from "./deliveries.ts"
import { open as openBare, type Row } from "./inbox/bareSqlite.ts"
import { acknowledge } from "./inbox/commits.ts"
import { listen, tellParent } from "./processes.ts"
import { cpuTime } from "./rounds.ts"

/** A plain server that calls `accept` with the body of each delivery, and responds when that calls back. */
const plain = (accept: (body: string, respond: () => void) => void) => {
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () =>
      accept(Buffer.concat(chunks).toString(), () => response.writeHead(200, { "content-length": 0 }).end())
    )
  })
  return Effect.flatMap(
    Effect.promise(() => listen(server)),
    (url) => serve(url)
  )
}

const bare = Effect.suspend(() =>
  plain((body, respond) => {
    JSON.parse(body)
    respond()
  })
)

/** Deliveries that arrive in one turn of the event loop are stored in one transaction, before they are acknowledged. */
const bareSqlite = Effect.suspend(() => {
  const database = openBare()
  let waiting: Array<{ readonly row: Row; readonly respond: () => void }> = []
  const store = () => {
    const stored = waiting
    waiting = []
    database.insert(stored.map(({ row }) => row))
    for (const { respond } of stored) respond()
  }
  process.on("disconnect", database.close)
  return plain((body, respond) => {
    const { message } = JSON.parse(body) as {
      readonly message: { readonly body: { readonly mid: string }; readonly recipient: { readonly chat_id: number } }
    }
    if (waiting.length === 0) setImmediate(store)
    const row = {
      fingerprint: `message_created:${message.body.mid}`,
      key: String(message.recipient.chat_id),
      text: body
    }
    waiting.push({ row, respond })
  })
})

const silent = Logger.layer([])

const webhook = NodeWebhook.layerServer({ port: 0, host: "127.0.0.1" }).pipe(
  Layer.provide(Webhook.layerReceiver({ url: "https://bot.example/updates", secret }))
)

const inFile = Layer.unwrap(
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    ),
    (folder) => NodeInbox.layer({ filename: join(folder, "inbox.sqlite"), capacity: 10_000_000 })
  )
)

/** Empties the inbox, because handling is not part of the figure. */
const drain = Effect.gen(function* () {
  const { store } = yield* Inbox.Inbox
  const owner = "benchmark"
  for (;;) {
    const partitions = yield* store.claim({ owner, leaseDuration: 0, maxPartitions: 1000, maxUpdates: 1000, begin: 0 })
    if (partitions.length === 0) return
    yield* store.commit(partitions.map((partition) => acknowledge(owner, partition)))
  }
})

const stopped = Effect.callback<void>((resume) => {
  process.on("disconnect", () => resume(Effect.void))
})

const serve = (url: string, drain: Effect.Effect<void> = Effect.void) =>
  Effect.suspend(() => {
    tellParent({ url })
    process.on("message", () => {
      const cpu = cpuTime()
      Effect.runFork(
        Effect.andThen(
          drain,
          Effect.sync(() => tellParent({ cpu }))
        )
      )
    })
    return stopped
  })

const localUrl = NodeWebhook.NodeWebhook.use(({ port }) => Effect.succeed(`http://127.0.0.1:${port}`))

const programs: Readonly<Record<string, Effect.Effect<void, unknown>>> = {
  bare,
  "bare-sqlite": bareSqlite,
  memory: Effect.gen(function* () {
    const inbox = yield* Inbox.Inbox
    yield* serve(yield* localUrl, Effect.orDie(Effect.provideService(drain, Inbox.Inbox, inbox)))
  }).pipe(Effect.provide(Layer.provideMerge(webhook, Inbox.layerMemory()).pipe(Layer.provideMerge(silent)))),
  sqlite: Effect.flatMap(localUrl, (url) => serve(url)).pipe(
    Effect.provide(Layer.provide(webhook, inFile).pipe(Layer.provideMerge(silent)))
  )
}

await Effect.runPromise(programs[process.argv[2]])
process.exit()
