import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Inbox, Received } from "../../Inbox.ts"
import { parse, type Update } from "../../../model/Update.ts"
import { untilBelow, untilStored } from "./backPressure.ts"

/** An update or its JSON text, with the position after the update. */
export interface Positioned {
  readonly update: Update | string
  readonly marker?: bigint | undefined
}

interface Options {
  /** The name under which the inbox stores the position. */
  readonly name: string
  readonly maxQueued: number
}

/** An array of a stream can have any length, and a batch is one transaction. */
const maxBatch = 500

const toReceived = ({ update }: Positioned): Received =>
  typeof update === "string" ? { decoded: parse(update), text: update } : { decoded: Result.succeed(update) }

/** Stores the elements of a stream in an inbox, in order, while the queue has space. */
export const run = Effect.fnUntraced(function* <E, R>(
  inbox: Inbox["Service"],
  elements: (marker: bigint | undefined) => Stream.Stream<Positioned, E, R>,
  { maxQueued, name }: Options
) {
  /** How many updates can be stored before the inbox has to be asked again. */
  let available = 0

  const store = Effect.fnUntraced(function* (received: ReadonlyArray<Positioned>) {
    for (let at = 0; at < received.length;) {
      // The source continues when half of the updates are handled, so that batches stay large.
      if (available < 1) available = maxQueued - (yield* untilBelow(inbox, maxQueued / 2 + 0.5))
      const batch = received.slice(at, at + Math.min(available, maxBatch))
      const value = batch.findLast(({ marker }) => marker !== undefined)?.marker
      const marker = value === undefined ? undefined : { source: name, value }
      yield* untilStored(inbox, inbox.receive(batch.map(toReceived), marker))
      at += batch.length
      available -= batch.length
    }
  })

  yield* Stream.runForEachArray(elements(Option.getOrUndefined(yield* untilStored(inbox, inbox.marker(name)))), store)
})
