import type * as Endpoint from "@colloquy/core/client/Endpoint"
import type * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import { ChatId } from "@colloquy/core/model/Chat"
import { UserId } from "@colloquy/core/model/User"
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

/** The times of the last admitted requests, at most as many as the limit allows in a window of the length. */
const makeWindow = (limit: number, length: number) => {
  const times: Array<number> = []
  let oldest = 0
  return {
    /** How long until the window admits a request, in milliseconds. */
    waitAt: (now: number): number => (times.length < limit ? 0 : Math.max(0, times[oldest] + length - now)),
    usedAt: (now: number): number => times.filter((time) => time + length > now).length,
    admit: (now: number): void => {
      times[oldest] = now
      oldest = (oldest + 1) % limit
    },
    isIdleAt: (now: number): boolean => times[(oldest + limit - 1) % limit] + length <= now
  }
}

export type Limiter = ReturnType<typeof makeLimiter>

/**
 * Admits requests up to the limits, within any sliding window. The windows are in the order of their last request, so
 * idle windows come first and are removed with the next request.
 */
export const makeLimiter = ({ answers, host, messages, polling, retryAfter, window }: Limits) => {
  const limits = { host, messages, answers, polling }
  for (const [scope, limit] of Object.entries(limits)) {
    if (!(Number.isInteger(limit) && limit > 0)) {
      throw new RangeError(`Emulator: the limit \`${scope}\` must be a whole number above 0`)
    }
  }
  const length = Duration.toMillis(window)
  const windows = new Map<string, ReturnType<typeof makeWindow>>()

  const removeIdle = (now: number): void => {
    for (const [name, window] of windows) {
      if (!window.isIdleAt(now)) return
      windows.delete(name)
    }
  }

  /**
   * Counts a request in every bucket, or in none. Returns the time until all buckets admit the request, in
   * milliseconds.
   *
   * @assumption rejectedRequests
   */
  const take = (buckets: ReadonlyArray<Bucket>, now: number): number => {
    removeIdle(now)
    const counted = buckets.map(([scope, key]) => {
      const name = nameOf(scope, key)
      return [name, windows.get(name) ?? makeWindow(limits[scope], length)] as const
    })
    const wait = Math.max(...counted.map(([, window]) => window.waitAt(now)))
    if (wait > 0) return wait
    for (const [name, window] of counted) {
      window.admit(now)
      windows.delete(name)
      windows.set(name, window)
    }
    return 0
  }

  return {
    take,

    /** The number of windows in memory. */
    size: () => windows.size,

    /** The limits that a call counts towards, and how much of each the window holds. */
    use: (endpoint: Endpoint.Any, bot: BotState, chat: ChatState | undefined, now: number): ReadonlyArray<LimitUse> =>
      bucketsOf(endpoint, bot, chat).map(([scope, key]) => ({
        scope,
        used: windows.get(nameOf(scope, key))?.usedAt(now) ?? 0,
        limit: limits[scope]
      })),

    /**
     * The windows that are not idle, and how long until each admits a request, in milliseconds. The name of a window has
     * the id of the bot, and for a limit of each chat also the id of the chat.
     */
    gauges: (now: number) => {
      removeIdle(now)
      return [...windows].map(([name, window]) => {
        const [scope, bot_id, chat_id] = name.split(" ")
        return {
          scope: scope as Scope,
          used: window.usedAt(now),
          limit: limits[scope as Scope],
          bot_id: UserId.make(Number(bot_id)),
          ...(chat_id === undefined ? {} : { chat_id: ChatId.make(Number(chat_id)) }),
          free_in_ms: window.waitAt(now)
        }
      })
    },

    settings: { ...limits, window_ms: length },

    /** Fails with 429 if a call exceeds a limit. */
    admit: (
      endpoint: Endpoint.Any,
      bot: BotState,
      chat: ChatState | undefined,
      now: number
    ): refusal.Refusable<void> => {
      const wait = take(bucketsOf(endpoint, bot, chat), now)
      if (wait === 0) return Effect.void
      return refusal.tooManyRequests(retryAfter ? Math.ceil(wait / 1000) : undefined)
    },

    clear: () => windows.clear()
  }
}
