import * as Effect from "effect/Effect"
import { type Response, respond } from "../../EmulatorHttp.ts"
import * as refusal from "../http/refusal.ts"
import { servePage } from "../ui/files.ts"
import type { Handlers } from "./call.ts"
import { readClock } from "./clock.ts"
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
export const stateHandlers = {
  getState: (_, context) => Effect.map(readClock(context.state), (clock) => toState(context, clock)),
  getSeed: (_, { state }) => Effect.sync(() => toSeed(state)),
  createMedia: (request, { state }) => Effect.map(addMedia(state, request), ({ token }) => ({ token })),
  describeMedia: ({ token }, { state }) => describeMedia(state, token),
  getPage: () => servePage("index.html"),
  getPageFile: ({ file }) => servePage(file),
  getMedia: ({ token }, { state }) => serveMedia(state, token),
  getJournal: (_, { state }) =>
    Effect.sync(() =>
      respond(200, linesOf(state), {
        "content-type": "application/x-ndjson; charset=utf-8",
        "content-disposition": 'attachment; filename="journal.ndjson"'
      })
    ),
  getEvent: ({ event_id }, { state }) =>
    refusal.found(eventAt(state, event_id), () => refusal.notFound(`Event ${event_id}`)),
  listEvents: ({ from, max_lag, ...filter }, { headers, state }) =>
    Effect.sync((): Response => {
      const last = headers["last-event-id"]
      const position = last === undefined || last === "" ? (from ?? state.events.end) : positionAfter(state, last)
      const stream = sseOf(state, filter, position, max_lag ?? Infinity)
      return { status: 200, headers: eventStream, body: "", stream }
    })
} satisfies Partial<Handlers>
