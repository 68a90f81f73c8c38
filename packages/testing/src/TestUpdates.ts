/**
 * Updates from a list or a stream, for a bot under test without a platform.
 *
 * @since 0.1.0
 */
import * as Inbox from "@colloquy/core/Inbox"
import type { Update } from "@colloquy/core/Update"
import * as Updates from "@colloquy/core/Updates"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

/**
 * The source of a bot under test, with an inbox in memory. `Updates.run` ends when the last update was handled, and
 * `Updates.stream` ends with the last one. Equal updates are no duplicates unless `duplicates` says so.
 *
 * **Example**
 *
 * ```ts
 * import { Updates } from "@colloquy/core"
 * import { Fixtures, TestUpdates } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const seen: Array<string> = []
 *
 * const test = Updates.run((update) => Effect.sync(() => seen.push(update.update_type))).pipe(
 *   Effect.provide(TestUpdates.layer([Fixtures.botStarted(), Fixtures.messageCreated()]))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  updates: Iterable<Update> | Stream.Stream<Update>,
  options?: Inbox.Options
): Layer.Layer<Updates.Updates | Inbox.Inbox> =>
  Layer.effect(
    Updates.Updates,
    Inbox.Inbox.use((inbox) => {
      const arriving = Stream.isStream(updates) ? updates : Stream.fromIterable(updates)
      const source = Stream.runForEachArray(arriving, (chunk) =>
        Effect.orDie(inbox.receive(chunk.map((update) => ({ decoded: Result.succeed(update) }))))
      )
      return Effect.succeed(Updates.Updates.of({ inbox, source }))
    })
  ).pipe(Layer.provideMerge(Inbox.layerMemory({ deduplicationWindow: 0, ...options })))
