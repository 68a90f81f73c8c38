import * as Json from "@colloquy/core/base/Json"
import type { AssumptionName } from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import { jsonOrText } from "../base/json.ts"

/** The bot and the test chat by which the platform is observed. */
export interface Subject {
  readonly baseUrl: string
  readonly token: Redacted.Redacted
  readonly chat_id: number
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** An answer as the platform has sent the answer. The client of the library would hide details that are observed. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

export interface Call {
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
  readonly token?: string
}

/** Between two calls, so that the limits of the platform are kept. */
const pause = "550 millis"

type Observed<A> = Effect.Effect<A, HttpClientError.HttpClientError, HttpClient.HttpClient>

/** Whether the bot lacks a right in the chat, or the platform is busy or out of order. */
const isRefusal = (path: string, status: number): boolean =>
  status === 429 || status >= 500 || (status === 403 && path !== "/me")

/** Calls the platform as the bot, and keeps the messages to remove afterwards. */
export class Probe {
  readonly subject: Subject
  /** The messages that the probe has sent and not removed. */
  readonly #sent = new Set<string>()
  /** The type of the test chat. */
  chatType: unknown
  /** Whether a webhook of the bot is subscribed, so that the bot gets no updates by GET /updates. */
  isSubscribed = true
  /** The status by which the platform has refused the last call for a reason that no assumption is about. */
  refusedBy: number | undefined

  constructor(subject: Subject) {
    this.subject = subject
  }

  call(method: Method, path: string, { body, query = {}, token }: Call = {}): Observed<Answer> {
    const { baseUrl, token: own } = this.subject
    const base = HttpClientRequest.make(method)(`${baseUrl}${path}`).pipe(
      HttpClientRequest.setHeader("authorization", token ?? Redacted.value(own)),
      HttpClientRequest.setUrlParams(query)
    )
    const request =
      body === undefined ? base : HttpClientRequest.bodyText(base, Json.stringify(body), "application/json")
    return this.#execute(path, request)
  }

  #execute(path: string, request: HttpClientRequest.HttpClientRequest): Observed<Answer> {
    return Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(pause)
      const response = yield* HttpClient.execute(request)
      const text = yield* response.text
      this.refusedBy = isRefusal(path, response.status) ? response.status : undefined
      return { status: response.status, body: jsonOrText(text) }
    })
  }

  /** Calls an upload host, whose address is the authorization. */
  host(
    method: "GET" | "POST",
    url: string,
    headers: Readonly<Record<string, string>>,
    body?: Uint8Array
  ): Observed<Answer> {
    const request = HttpClientRequest.make(method)(url).pipe(HttpClientRequest.setHeaders(headers))
    return this.#execute(
      url,
      body === undefined ? request : HttpClientRequest.bodyUint8Array(request, body, headers["content-type"])
    )
  }

  /** In a channel, every post notifies. */
  get silently(): { readonly notify?: false } {
    return this.chatType === "channel" ? {} : { notify: false }
  }

  /** Sends a message to the test chat, without a notification. */
  send(body: Readonly<Record<string, unknown>>): Observed<Answer> {
    const sent = this.call("POST", "/messages", {
      query: { chat_id: this.subject.chat_id },
      body: { ...this.silently, ...body }
    })
    return Effect.map(sent, (answer) => {
      const mid = read(answer.body, "message", "body", "mid")
      if (typeof mid === "string") this.#sent.add(mid)
      return answer
    })
  }

  remove(mid: string): Observed<Answer> {
    this.#sent.delete(mid)
    return this.call("DELETE", "/messages", { query: { message_id: mid } })
  }

  /** Removes everything that was sent. */
  get cleanUp(): Observed<void> {
    return Effect.suspend(() => Effect.forEach(this.#sent, (mid) => this.remove(mid), { discard: true }))
  }
}

/** Returns a part of JSON, or `undefined` if there is none. */
export const read = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (part, key) => (typeof part === "object" && part !== null ? Reflect.get(part, key) : undefined),
    value
  )

/** An observation of an assumption: returns what differs, or `undefined`. */
export interface Observation {
  readonly assumption: AssumptionName
  readonly observe: (probe: Probe) => Observed<string | undefined>
  /** Whether the assumption can be observed. */
  readonly isPossible: (probe: Probe) => boolean
}

const shown = (value: unknown): string => {
  const text = Json.stringify(value) ?? "nothing"
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

/** Describes the difference between the observed and the expected value, or returns nothing if both are the same. */
export const unless = (isExpected: boolean, expected: string, answer: unknown): string | undefined =>
  isExpected ? undefined : `expected ${expected}, and observed ${shown(answer)}`
