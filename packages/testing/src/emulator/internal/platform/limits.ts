import type * as Endpoint from "@colloquy/core/client/Endpoint"
import type * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { LimitUse } from "../../EmulatorEvent.ts"
import type { Limits } from "../../EmulatorOptions.ts"
import * as refusal from "../http/refusal.ts"
import type { BotState, ChatState } from "./state.ts"
import { idOf } from "./users.ts"

type Scope = "host" | "messages" | "answers" | "polling"

type Bucket = readonly [scope: Scope, key: string]

/**
 * The limit that a call counts towards, besides the limit of the host. The messages of a chat, their edits and their
 * deletions count together, for each form of the chat's id.
 *
 * @assumption rateLimitScopes
 */
const scopes: { readonly [Name in Endpoints.Name]?: Exclude<Scope, "host"> } = {
  "Messages.send": "messages",
  "Messages.edit": "messages",
  "Messages.remove": "messages",
  "Comments.send": "messages",
  "Comments.edit": "messages",
  "Answers.send": "answers",
  "Updates.list": "polling"
}

const nameOf = (scope: Scope, key: string): string => `${scope} ${key}`

const bucketsOf = (endpoint: Endpoint.Any, bot: BotState, chat: ChatState | undefined): ReadonlyArray<Bucket> => {
  const self = String(idOf(bot.user))
  const scope = scopes[endpoint.endpoint as Endpoints.Name]
  const key = scope === "polling" ? self : chat && `${self} ${chat.chat_id}`
  const host: Bucket = ["host", self]
  return scope === undefined || key === undefined ? [host] : [host, [scope, key]]
}

/** How much of a limit is used. */
interface Gauge extends LimitUse {
  readonly bot_id: number
  readonly chat_id: number | undefined
  /** How long until a request is admitted, in milliseconds. */
  readonly freeIn: number
}

/** The times of the last admitted requests, at most as many as the limit allows in a window. */
class SlidingWindow {
  readonly #limit: number
  readonly #times: Array<number> = []
  #oldest = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How long until the window admits a request, in milliseconds. */
  waitAt(now: number, window: number): number {
    return this.#times.length < this.#limit ? 0 : Math.max(0, this.#times[this.#oldest] + window - now)
  }

  usedAt(now: number, window: number): number {
    let used = 0
    for (const time of this.#times) if (time + window > now) used++
    return used
  }

  admit(now: number): void {
    this.#times[this.#oldest] = now
    this.#oldest = (this.#oldest + 1) % this.#limit
  }

  isIdleAt(now: number, window: number): boolean {
    const last = (this.#oldest + this.#limit - 1) % this.#limit
    return this.#times[last] + window <= now
  }
}

/**
 * Admits requests up to the limits, within any sliding window. The windows are in the order of their last request, so
 * idle windows come first and are removed with the next request.
 */
export class Limiter {
  readonly #limits: Limits
  readonly #window: number
  readonly #windows = new Map<string, SlidingWindow>()

  constructor(limits: Limits) {
    for (const scope of ["host", "messages", "answers", "polling"] as const) {
      if (!(Number.isInteger(limits[scope]) && limits[scope] > 0)) {
        throw new RangeError(`Emulator: the limit \`${scope}\` must be a whole number above 0`)
      }
    }
    this.#limits = limits
    this.#window = Duration.toMillis(limits.window)
  }

  /** The number of windows in memory. */
  get size(): number {
    return this.#windows.size
  }

  /**
   * Counts a request in every bucket, or in none. Returns the time until all buckets admit the request, in
   * milliseconds.
   *
   * @assumption rejectedRequests
   */
  take(buckets: ReadonlyArray<Bucket>, now: number): number {
    this.#removeIdle(now)
    const windows = buckets.map(([scope, key]) => {
      const name = nameOf(scope, key)
      return [name, this.#windows.get(name) ?? new SlidingWindow(this.#limits[scope])] as const
    })
    const wait = Math.max(...windows.map(([, window]) => window.waitAt(now, this.#window)))
    if (wait > 0) return wait
    for (const [name, window] of windows) {
      window.admit(now)
      this.#windows.delete(name)
      this.#windows.set(name, window)
    }
    return 0
  }

  /** The limits that a call counts towards, and how much of each the window holds. */
  use(endpoint: Endpoint.Any, bot: BotState, chat: ChatState | undefined, now: number): ReadonlyArray<LimitUse> {
    return bucketsOf(endpoint, bot, chat).map(([scope, key]) => ({
      scope,
      used: this.#windows.get(nameOf(scope, key))?.usedAt(now, this.#window) ?? 0,
      limit: this.#limits[scope]
    }))
  }

  /**
   * The windows that are not idle. The key is the id of the bot, and for a limit of each chat also the id of the chat.
   */
  gauges(now: number): ReadonlyArray<Gauge> {
    this.#removeIdle(now)
    return [...this.#windows].map(([name, window]) => {
      const [scope, bot_id, chat_id] = name.split(" ")
      return {
        scope: scope as Scope,
        bot_id: Number(bot_id),
        chat_id: chat_id === undefined ? undefined : Number(chat_id),
        used: window.usedAt(now, this.#window),
        limit: this.#limits[scope as Scope],
        freeIn: window.waitAt(now, this.#window)
      }
    })
  }

  /** The limits and the length of their window in milliseconds. */
  get settings() {
    const { answers, host, messages, polling } = this.#limits
    return { host, messages, answers, polling, window: this.#window }
  }

  /** Fails with 429 if a call exceeds a limit. */
  admit(
    endpoint: Endpoint.Any,
    bot: BotState,
    chat: ChatState | undefined,
    now: number
  ): Effect.Effect<void, refusal.Refusal> {
    const wait = this.take(bucketsOf(endpoint, bot, chat), now)
    if (wait === 0) return Effect.void
    return refusal.tooManyRequests(this.#limits.retryAfter ? Math.ceil(wait / 1000) : undefined)
  }

  clear(): void {
    this.#windows.clear()
  }

  #removeIdle(now: number): void {
    for (const [name, window] of this.#windows) {
      if (!window.isIdleAt(now, this.#window)) return
      this.#windows.delete(name)
    }
  }
}
