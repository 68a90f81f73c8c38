import type * as Endpoint from "@colloquy/core/Endpoint"
import type * as Endpoints from "@colloquy/core/Endpoints"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Limits } from "../../EmulatorOptions.ts"
import type { BotState, ChatState } from "./model.ts"
import * as refusal from "../http/refusal.ts"
import { idOf } from "./state.ts"

type Scope = "host" | "messages" | "answers" | "polling"

type Quota = readonly [scope: Scope, key: string]

/**
 * What a call takes besides its place at the host. A chat's messages are one lane, however they are named.
 *
 * @assumption rateLimitScopes
 */
const scopes: { readonly [Name in Endpoints.Name]?: Exclude<Scope, "host"> } = {
  "Messages.send": "messages",
  "Messages.edit": "messages",
  "Comments.send": "messages",
  "Comments.edit": "messages",
  "Answers.send": "answers",
  "Updates.list": "polling"
}

/**
 * The last arrivals that were let in, at most as many as the limit has places: where all are taken, the next may come
 * when the oldest is out.
 */
class SlidingWindow {
  readonly #places: number
  readonly #times: Array<number> = []
  #oldest = 0

  constructor(places: number) {
    this.#places = places
  }

  /** How long it is until the lane has a place. */
  waitAt(now: number, window: number): number {
    return this.#times.length < this.#places ? 0 : Math.max(0, this.#times[this.#oldest] + window - now)
  }

  letIn(now: number): void {
    this.#times[this.#oldest] = now
    this.#oldest = (this.#oldest + 1) % this.#places
  }

  isIdleAt(now: number, window: number): boolean {
    const last = (this.#oldest + this.#places - 1) % this.#places
    return this.#times[last] + window <= now
  }
}

/**
 * Lets at most so many arrivals in, over any sliding window. Lanes stand in the order of their last arrival, so those
 * that have become idle are at the front and are forgotten with the next arrival of anybody.
 */
export class Limiter {
  readonly #limits: Limits
  readonly #window: number
  readonly #lanes = new Map<string, SlidingWindow>()

  constructor(limits: Limits) {
    for (const scope of ["host", "messages", "answers", "polling"] as const) {
      if (!(Number.isInteger(limits[scope]) && limits[scope] > 0)) {
        throw new RangeError(`Emulator: the limit \`${scope}\` must be a whole number above 0`)
      }
    }
    this.#limits = limits
    this.#window = Duration.toMillis(limits.window)
  }

  /** How many lanes are kept. */
  get size(): number {
    return this.#lanes.size
  }

  /**
   * Takes a place in every lane that is claimed, or none: how long it is until there is one in all.
   *
   * @assumption rejectedRequests
   */
  take(claims: ReadonlyArray<Quota>, now: number): number {
    this.#forgetIdle(now)
    const lanes = claims.map(([scope, key]) => {
      const name = `${scope} ${key}`
      return [name, this.#lanes.get(name) ?? new SlidingWindow(this.#limits[scope])] as const
    })
    const wait = Math.max(...lanes.map(([, lane]) => lane.waitAt(now, this.#window)))
    if (wait > 0) return wait
    for (const [name, lane] of lanes) {
      lane.letIn(now)
      this.#lanes.delete(name)
      this.#lanes.set(name, lane)
    }
    return 0
  }

  /** Whether a call may come in now. */
  admit(
    endpoint: Endpoint.Any,
    bot: BotState,
    chat: ChatState | undefined,
    now: number
  ): Effect.Effect<void, refusal.Refusal> {
    return Effect.suspend(() => {
      const self = String(idOf(bot.user))
      const scope = scopes[endpoint.endpoint as Endpoints.Name]
      const key = scope === "polling" ? self : chat && `${self} ${chat.chat_id}`
      const claims = scope === undefined || key === undefined ? [] : [[scope, key] as const]
      const wait = this.take([["host", self], ...claims], now)
      if (wait === 0) return Effect.void
      return refusal.tooManyRequests(this.#limits.retryAfter ? Math.ceil(wait / 1000) : undefined)
    })
  }

  clear(): void {
    this.#lanes.clear()
  }

  #forgetIdle(now: number): void {
    for (const [name, lane] of this.#lanes) {
      if (!lane.isIdleAt(now, this.#window)) return
      this.#lanes.delete(name)
    }
  }
}
