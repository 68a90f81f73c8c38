import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { inspect } from "node:util"
import { Inbox, Webhook } from "../../src/index.ts"
import { inboxOver as inbox } from "./deliveries.ts"

export { inboxOver as inbox } from "./deliveries.ts"

export const url = "https://bot.example/updates"

export const secret = "a-secret-for-tests"

export const receiver = (options: Partial<Webhook.ReceiverOptions> = {}, over: Layer.Layer<Inbox.Inbox> = inbox()) =>
  Webhook.layerReceiver({ url, secret, ...options }).pipe(Layer.provideMerge(over))

export interface Delivery {
  readonly method?: string
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Effect.Effect<Uint8Array, Webhook.BodyError>
}

const encoder = new TextEncoder()

const bodyOf = (body: NonNullable<Delivery["body"]>) =>
  Effect.isEffect(body) ? body : Effect.succeed(typeof body === "string" ? encoder.encode(body) : body)

/** Returns the response to a delivery. Without options, it is a valid delivery of the platform. */
export const deliver = ({ body = started(1), headers, method = "POST", url = "/updates" }: Delivery = {}) => {
  const given: Readonly<Record<string, string>> = {
    "content-type": "application/json",
    "x-svc-bot-api-secret": secret,
    ...headers
  }
  const header = (name: string) => given[name]
  return Webhook.Webhook.use((webhook) => webhook.handle({ method, url, header, body: bodyOf(body) }))
}

export const status = (delivery?: Delivery) => Effect.map(deliver(delivery), ({ status }) => status)

export const started = (timestamp: number, name = "Ann") =>
  JSON.stringify({
    update_type: "bot_started",
    timestamp,
    chat_id: 1,
    user: { user_id: 1, first_name: name, is_bot: false }
  })

export const queued = Inbox.Inbox.use((inbox) => Effect.map(inbox.stats, ({ queued }) => queued))

export const deadLetters = Stream.runCollect(Inbox.deadLetters)

/** The texts of the queued updates, in order. */
export const texts = Inbox.Inbox.use(({ store }) =>
  Effect.map(
    store.claim({ owner: "test", leaseDuration: 0, maxPartitions: 100, maxUpdates: 1000, begin: 0 }),
    (partitions) => partitions.flatMap(({ updates }) => updates.map(({ update }) => update.text))
  )
)

export const packed = (text: string, format: "gzip" | "deflate") =>
  Effect.promise(() =>
    new Response(new Blob([text]).stream().pipeThrough(new CompressionStream(format)))
      .arrayBuffer()
      .then((buffer) => new Uint8Array(buffer))
  )

/** A logger that keeps the messages and the causes as texts. */
export const captureLogs = () => {
  const logs: Array<string> = []
  const layer = Logger.layer([
    Logger.make(({ cause, message }) => void logs.push(inspect(message), Cause.pretty(cause)))
  ])
  return { logs, layer }
}
