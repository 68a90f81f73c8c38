import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as Notifier from "./notifier.ts"
import type { WakeUps } from "./pgWakeUps.ts"
import type { ProcessLock } from "./processLock.ts"

/** Wakes other processes by their lock files, which each of them watches. A database in memory has no other processes. */
export const make = Effect.fnUntraced(function* (
  lockOf: () => ProcessLock | undefined,
  migrated: Effect.Effect<void, StoreError>
) {
  const notify = yield* Notifier.make(() => lockOf()?.wakeOthers())
  const wakeUps: WakeUps = {
    notify,
    listen: (wake) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.map(migrated, () => lockOf()?.watch(wake)),
          (close) => Effect.sync(() => close?.())
        )
      )
  }
  return wakeUps
})
