import * as Effect from "effect/Effect"
import * as Handler from "../../Handler.ts"
import type { Update } from "../../../model/Update.ts"

/** Conversations and scenes notice by their placements that their timers have no handler. */
const hasPlacement = (timer: string): boolean => /^(?:conversation\/|scene:)/.test(timer)

/** Returns a warning for an update that only one handler can take, and that none has taken. */
const warningOf = (update: Update): string | undefined => {
  if (update.update_type === "colloquy_timer" && !hasPlacement(update.name)) {
    return (
      `The timer "${update.name}" was due, and no handler took its update. Place the handler that its \`on\` returns among the ` +
      "handlers of the bot."
    )
  }
  if (update.update_type !== "message_callback") return undefined
  const [, menu] = /^menu_(\w+):/.exec(update.callback.payload ?? "") ?? []
  return menu === undefined
    ? undefined
    : `A button of the menu "${menu}" was pressed, and no handler took the press. Place the \`handler\` of the menu among the ` +
        "handlers of the bot, or `Menu.removed()` if the program has no such menu any more."
}

const maxWarnings = 100

/** The warnings that were logged, by the stores of the inboxes. */
const logged = new WeakMap<object, Set<string>>()

const warnOnce = (store: object, warning: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const all = logged.get(store) ?? new Set()
    if (all.has(warning) || all.size >= maxWarnings) return Effect.void
    logged.set(store, all.add(warning))
    return Effect.logWarning(warning)
  })

/** Returns the same handler, which warns once about each timer and each menu whose updates no handler takes. */
export const warnOfUnhandled =
  <E, R>(handler: Handler.Handler<E, R>, store: object): Handler.Handler<E, R> =>
  (update) => {
    const effect = handler(update)
    const warning = warningOf(update)
    return warning === undefined
      ? effect
      : Effect.tapError(effect ?? Handler.notHandled, (error) =>
          Handler.isNotHandled(error) ? warnOnce(store, warning) : Effect.void
        )
  }
