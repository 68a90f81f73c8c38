import * as Bot from "@colloquy/core/bot/Bot"
import * as Deliveries from "@colloquy/core/inbox/Deliveries"
import type { Handler } from "@colloquy/core/inbox/Handler"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import type { Call } from "@colloquy/core/inbox/UpdateLog"
import * as Updates from "@colloquy/core/inbox/Updates"
import { ChatId } from "@colloquy/core/model/Chat"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import * as Emulator from "../../emulator/Emulator.ts"
import * as EmulatorHttp from "../../emulator/EmulatorHttp.ts"
import * as Fixtures from "../Fixtures.ts"

type Answer = ReturnType<EmulatorHttp.Interceptor>

const toAnswer = ({ answer, status }: Call): Answer =>
  answer === undefined || status === undefined
    ? EmulatorHttp.connectionReset
    : Effect.succeed({ status, headers: { "content-type": "application/json" }, body: answer })

/** A successful answer to a call that was not recorded, because the mended handler makes further calls. */
const success: EmulatorHttp.Interceptor = ({ method, path, query }, next) => {
  if (method === "GET") return next
  if (method !== "POST" || path !== "/messages") return Effect.succeed(EmulatorHttp.respond(200, { success: true }))
  const chat_id = Number(new URLSearchParams(query).get("chat_id") ?? Fixtures.dialogId)
  const message = Fixtures.message({ recipient: { chat_id: ChatId.make(chat_id), chat_type: "chat" } })
  return Effect.succeed(EmulatorHttp.respond(200, { message }))
}

/**
 * Answers requests by recorded calls, and all others with success. Each call answers one request: the first with the same method, path
 * and query, or else with the same method and path.
 */
export const answerBy = (calls: ReadonlyArray<Call>) => {
  const left = calls.filter(({ request }) => request !== undefined)
  return Emulator.intercept((sent, next) => {
    const same = left.filter(({ request }) => request?.method === sent.method && request.path === sent.path)
    const call = same.find(({ request }) => request?.query === sent.query) ?? same[0]
    if (call === undefined) return success(sent, next)
    left.splice(left.indexOf(call), 1)
    return toAnswer(call)
  })
}

/** Handles everything that is queued or due in an inbox, in virtual time that advances by itself. Returns the errors of dead letters. */
export const drain = <E, R>(bot: Handler<E, R>, inbox: Inbox.Inbox["Service"], retries: number) =>
  Effect.gen(function* () {
    const errors: Array<string> = []
    const handled = Bot.drain(bot, {
      retry: Schedule.recurs(retries),
      onDeadLetter: ({ error }) => Effect.sync(() => errors.push(error))
    }).pipe(
      Effect.provideService(Inbox.Inbox, inbox),
      Effect.provideService(Updates.Updates, { inbox, source: Effect.void }),
      Effect.provideService(Deliveries.ImmediateShutdown, true)
    )
    yield* Effect.raceFirst(handled, Effect.forever(TestClock.adjust("1 second")))
    return errors
  })

/** The platform and the clock of a test that repeats what a bot did. */
export const layer = Layer.provideMerge(Emulator.layerBot({ limits: false }), TestClock.layer())
