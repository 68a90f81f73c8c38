import { Json } from "@colloquy/core"
import type { EmulatorEvent } from "@colloquy/testing/emulator/EmulatorEvent"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"

export interface ReceivedEvent {
  /** The id to resume after. */
  readonly lastEventId: string
  readonly event: EmulatorEvent
}

/** The events of `GET /_emulator/events`, as a client reads them. */
export const eventStream = (
  baseUrl: string,
  query = "",
  lastEventId?: string
): Stream.Stream<ReceivedEvent, unknown, HttpClient.HttpClient> =>
  Stream.unwrap(
    Effect.map(
      HttpClient.execute(
        HttpClientRequest.get(`${baseUrl}/_emulator/events${query}`, {
          headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId }
        })
      ),
      ({ stream }) =>
        stream.pipe(
          Stream.decodeText,
          Stream.pipeThroughChannel(Sse.decode()),
          Stream.map(({ data, id }) => ({ lastEventId: id ?? "", event: Json.parse(data) as EmulatorEvent }))
        )
    )
  )
