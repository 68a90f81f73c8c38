import * as Platform from "@colloquy/core/Platform"
import type { UpdatesPage, ListRequest } from "@colloquy/core/Updates"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Call } from "../endpoints/call.ts"
import { forgetOld, typeOf } from "./updates.ts"
import { withFreshUpdate } from "./media.ts"
import type { BotState, StoredUpdate } from "./model.ts"

const wanted =
  (types: ReadonlyArray<string> | undefined) =>
  ({ update }: StoredUpdate) => {
    const type = typeOf(update)
    return types === undefined
      ? !Platform.webhookOnlyUpdateTypes.includes(type)
      : types.includes(type) && !Platform.webhookOnlyUpdateTypes.includes(type)
  }

interface Found {
  readonly updates: ReadonlyArray<StoredUpdate>
  readonly next: number
}

const read = (bot: BotState, from: number, limit: number, isWanted: (delivery: StoredUpdate) => boolean): Found => {
  const start = Math.max(from, bot.updates.start)
  const updates: Array<StoredUpdate> = []
  let next = start
  for (const delivery of bot.updates.from(start)) {
    if (updates.length === limit) break
    next++
    if (isWanted(delivery)) updates.push(delivery)
  }
  return { updates, next }
}

/**
 * Waits for updates. A marker commits everything before it. The first poll of a bot gives everything that is kept; a
 * later one without a marker gives only the latest update, so a bot that starts again without its marker loses events.
 */
export const poll = ({ bot, listener, state }: Call, request: ListRequest): Effect.Effect<UpdatesPage> => {
  const { limit = Platform.updatesPage.default, marker, timeout = Platform.longPollTimeout.default, types } = request
  const isWanted = wanted(types)
  const isFresh = marker == null && bot.polledTo === undefined
  const told = marker == null ? (bot.polledTo ?? bot.updates.start) : Number(marker)
  // A marker from before a restart may be ahead of all that there is.
  const from = Math.min(told, bot.updates.end)

  const take = (): Found => {
    forgetOld(state, bot)
    const found = read(bot, from, marker == null && !isFresh ? Infinity : limit, isWanted)
    return marker == null && !isFresh ? { ...found, updates: found.updates.slice(-1) } : found
  }

  const wait: Effect.Effect<Found> = Effect.suspend(() => {
    const found = take()
    return found.updates.length > 0 ? Effect.succeed(found) : Effect.andThen(bot.updates.arrival, wait)
  })

  const within =
    timeout === 0 ? Effect.sync(take) : Effect.map(Effect.timeoutOption(wait, timeout * 1000), Option.getOrElse(take))

  return Effect.map(within, ({ next, updates }) => {
    bot.polledTo = Math.max(bot.polledTo ?? 0, next)
    // Others may have called meanwhile, by other names.
    state.imageOrigins.bot = listener.uploads.image
    return {
      updates: updates.map(({ update }) => Result.succeed(withFreshUpdate(state, update))),
      marker: BigInt(next)
    }
  })
}
