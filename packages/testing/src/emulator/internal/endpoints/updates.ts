import * as Platform from "@colloquy/core/base/Platform"
import type * as Updates from "@colloquy/core/inbox/Updates"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { methodNotAllowed } from "../http/refusal.ts"
import { emit } from "../platform/events.ts"
import { withFreshUpdate } from "../platform/media.ts"
import type { BotState, StoredUpdate } from "../platform/state.ts"
import { forgetExpired, typeOf } from "../platform/updates.ts"
import { idOf } from "../platform/users.ts"
import type { Call, Handlers } from "./call.ts"

const matches =
  (types: ReadonlyArray<string> | undefined) =>
  ({ update }: StoredUpdate) => {
    const type = typeOf(update)
    return (types === undefined || types.includes(type)) && !Platform.webhookOnlyUpdateTypes.includes(type)
  }

const read = (bot: BotState, from: number, limit: number, isWanted: (stored: StoredUpdate) => boolean) => {
  const start = Math.max(from, bot.updates.start)
  const updates: Array<StoredUpdate> = []
  let next = start
  for (const stored of bot.updates.from(start)) {
    if (updates.length === limit) break
    next++
    if (isWanted(stored)) updates.push(stored)
  }
  return { updates, next }
}

type Found = ReturnType<typeof read>

/**
 * Waits for updates. The request cannot exceed the maximum time and number of the platform. A marker acknowledges all
 * earlier updates. Without a marker, the first poll of a bot returns all stored updates, and a later poll only the
 * latest: a bot that restarts without its marker loses updates.
 *
 * @assumption updatesPageReturned
 */
const poll = ({ bot, listener, state }: Call, request: Updates.ListRequest): Effect.Effect<Updates.UpdatesPage> => {
  const { marker, types } = request
  const limit = Math.min(request.limit ?? Platform.updatesPage.default, Platform.updatesPage.returned)
  const timeout = Math.min(request.timeout ?? Platform.longPollTimeout.default, Platform.longPollTimeout.waited)
  const isWanted = matches(types ?? undefined)
  const isFresh = marker == null && bot.polledTo === undefined
  const position = marker == null ? (bot.polledTo ?? bot.updates.start) : Number(marker)
  // A marker from before a restart of the emulator can be beyond the last update.
  const from = Math.min(position, bot.updates.end)

  const take = (): Found => {
    if (marker != null) bot.committedTo = Math.max(bot.committedTo, from)
    forgetExpired(state, bot)
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
    // Calls through other origins may have come since.
    state.fileOrigins.bot = listener.uploads
    return {
      updates: updates.map(({ update }) => Result.succeed(withFreshUpdate(state, update))),
      marker: BigInt(next)
    }
  })
}

const setConnected = ({ bot, state }: Call, isConnected: boolean): void => {
  if (bot.isConnected === isConnected) return
  bot.isConnected = isConnected
  emit(state, { type: "connection", bot_id: idOf(bot.user), is_connected: isConnected })
}

/** A bot is connected from its first poll until the connection of a poll is lost. */
const connected = <A, E>(call: Call, polling: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    setConnected(call, true)
    return Effect.onInterrupt(polling, () => Effect.sync(() => setConnected(call, false)))
  })

const whileSubscribed = () => methodNotAllowed("Long polling does not work while a webhook is subscribed")

export const updates: Handlers<typeof Updates> = {
  list: (request, call) =>
    Effect.suspend(() =>
      call.bot.subscriptions.size > 0
        ? whileSubscribed()
        : Effect.raceFirst(
            connected(call, poll(call, request)),
            Effect.flatMap(call.bot.subscribed.arrival, whileSubscribed)
          )
    )
}
