import * as Effect from "effect/Effect"
import { type Response, respond } from "../../EmulatorHttp.ts"
import * as refusal from "../http/refusal.ts"
import { servePage } from "../ui/files.ts"
import { on, onRaw, type Route } from "./call.ts"
import { readClock } from "./clock.ts"
import * as declarations from "./declarations.ts"
import { eventAt, linesOf, positionAfter, sseOf } from "./events.ts"
import { toSeed } from "./export.ts"
import { addMedia, describeMedia, serveMedia } from "./media.ts"
import { toState } from "./stateView.ts"

const eventStream = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no"
}

/** Calls that read the whole state and the events, and that create media. */
export const stateRoutes: ReadonlyArray<Route> = [
  on(declarations.getState, (_, { botModule, state, testFolder }) =>
    Effect.map(readClock(state), (clock) => toState(state, clock, { botModule, testFolder }))
  ),
  on(declarations.getSeed, (_, { state }) => Effect.sync(() => toSeed(state))),
  on(declarations.createMedia, (request, { state }) =>
    Effect.map(addMedia(state, request), ({ token }) => ({ token }))
  ),
  on(declarations.describeMedia, ({ token }, { state }) => describeMedia(state, token)),
  onRaw(declarations.getPage, () => servePage("index.html")),
  onRaw(declarations.getPageFile, ({ file }) => servePage(file)),
  onRaw(declarations.getMedia, ({ token }, { state }) => serveMedia(state, token)),
  onRaw(declarations.getJournal, (_, { state }) =>
    Effect.sync(() =>
      respond(200, linesOf(state), {
        "content-type": "application/x-ndjson; charset=utf-8",
        "content-disposition": 'attachment; filename="journal.ndjson"'
      })
    )
  ),
  on(declarations.getEvent, ({ event_id }, { state }) =>
    Effect.suspend(() => {
      const event = eventAt(state, event_id)
      return event === undefined ? refusal.notFound(`Event ${event_id}`) : Effect.succeed(event)
    })
  ),
  onRaw(declarations.listEvents, ({ bot_id, chat_id, details, from, max_lag, types }, { headers, state }) =>
    Effect.sync((): Response => {
      const last = headers["last-event-id"]
      const position = last === undefined || last === "" ? (from ?? state.events.end) : positionAfter(state, last)
      const filter = {
        types: types == null ? undefined : new Set<string>(types),
        bot_id: bot_id ?? undefined,
        chat_id: chat_id ?? undefined,
        details: details ?? true
      }
      const stream = sseOf(state, filter, position, max_lag ?? Infinity)
      return { status: 200, headers: eventStream, body: "", stream }
    })
  )
]
