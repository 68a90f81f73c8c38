/**
 * A source with given updates, for tests of a bot without the platform.
 *
 * @since 0.1.0
 */
import * as Deliveries from "@colloquy/core/inbox/Deliveries"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import type { Update } from "@colloquy/core/model/Update"
import * as Updates from "@colloquy/core/inbox/Updates"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

/**
 * A source that enqueues the given updates, with an inbox in memory. `Bot.run` ends when all of them are handled. The layer sets `Deliveries.ImmediateShutdown`. Equal updates are not duplicates, unless the options set
 * `deduplicationWindow`.
 *
 * **Example** (Run a bot with two updates)
 *
 * ```ts
 * import { Bot } from "@colloquy/core"
 * import { Fixtures, TestUpdates } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * const handled: Array<string> = []
 *
 * const test = Bot.run((update) => Effect.sync(() => handled.push(update.update_type))).pipe(
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
  Updates.layer(Stream.isStream(updates) ? updates : Stream.fromIterable(updates)).pipe(
    Layer.provideMerge(Inbox.layerMemory({ deduplicationWindow: 0, ...options })),
    Layer.merge(Layer.succeed(Deliveries.ImmediateShutdown, true))
  )
