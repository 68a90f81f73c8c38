import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { BotApi } from "../../../client/BotApi.ts"
import * as Handler from "../../Handler.ts"
import { chatOf, textOf, type Update, userIdOf } from "../../../model/Update.ts"
import { CurrentUpdate } from "../consumer/currentUpdate.ts"
import { parse } from "../../../model/internal/text/command.ts"
import { warnOfUnhandled } from "./unhandled.ts"

/**
 * A conversation or a scene was started in an update, and later updates of the same chat and user have to reach its
 * handler.
 */
interface Start {
  readonly placement: Placement
  readonly update: Update
  readonly bot: object | undefined
}

/** The starts of things whose handlers no update has reached yet, by the stores of their inboxes. */
const starts = new WeakMap<object, Array<Start>>()

const maxStarts = 100

/** Whether an update is of the same chat and user as another one. The timer of a chat has no user, and that of a user has no chat. */
const isAtPlaceOf = (other: Update, update: Update): boolean => {
  const chat = chatOf(update)
  const user = userIdOf(update)
  if (chat === undefined && user === undefined) return false
  return (chat === undefined || chat === chatOf(other)) && (user === undefined || user === userIdOf(other))
}

const botOf = (context: Context.Context<never>): object | undefined => Context.getOrUndefined(context, BotApi)

/** Whether an update is a message that is neither a comment nor a command. */
const isMessage = (update: Update): boolean =>
  update.update_type === "message_created" &&
  update.message?.recipient.post_id == null &&
  parse(textOf(update)?.trim() ?? "") === undefined

/**
 * Detects that a conversation or a scene was started whose handler is not among the handlers of the bot: an update that
 * the handler should have taken does not reach the handler. The check ends when an update has reached the handler once.
 */
export class Placement {
  readonly #problem: string
  readonly #isOwn: (update: Update) => boolean
  #isKnown = false

  /** `isOwn` returns whether an update is a press of a button or a timeout of the conversation or scene. */
  constructor(what: string, isOwn: (update: Update) => boolean) {
    this.#problem =
      `${what} was started, but an update for it did not reach its handler. Place its \`handler\` among the handlers of the bot, ` +
      "before those that take the same updates."
    this.#isOwn = isOwn
  }

  /**
   * The handler received an update. Only messages and own updates show that the handler is placed correctly. Other
   * updates, such as the start of a dialog, do not.
   */
  reach(update: Update): void {
    this.#isKnown ||= this.takes(update)
  }

  get isKnown(): boolean {
    return this.#isKnown
  }

  takes(update: Update): boolean {
    return isMessage(update) || this.#isOwn(update)
  }

  /** Registers the start in the update that is being handled. */
  get start(): Effect.Effect<void> {
    return Effect.withFiber((fiber) => {
      const changes = this.#isKnown ? undefined : fiber.getRef(CurrentUpdate)?.changes
      if (changes === undefined) return Effect.void
      const { store, update } = changes
      const all = starts.get(store) ?? []
      if (all.length < maxStarts) starts.set(store, [...all, { placement: this, update, bot: botOf(fiber.context) }])
      return Effect.void
    })
  }

  /** Warns once. */
  get report(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#isKnown = true
      return Effect.logWarning(this.#problem)
    })
  }
}

const check = (store: object, update: Update): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const all = (starts.get(store) ?? []).filter(({ placement }) => !placement.isKnown)
    const missed = all.filter(
      (start) =>
        start.update !== update &&
        isAtPlaceOf(start.update, update) &&
        start.bot === botOf(fiber.context) &&
        start.placement.takes(update)
    )
    const placements = new Set(missed.map(({ placement }) => placement))
    const left = all.filter(({ placement }) => !placements.has(placement))
    if (left.length === 0) starts.delete(store)
    else starts.set(store, left)
    return Effect.forEach(placements, ({ report }) => report, { discard: true })
  })

/** Returns the same handler, which warns about updates that should have reached another handler. */
export const watch = <E, R>(handler: Handler.Handler<E, R>, store: object): Handler.Handler<E, R> =>
  warnOfUnhandled((update) => {
    const effect = handler(update)
    if (!starts.has(store)) return effect
    return Effect.onExit(effect ?? Handler.notHandled, () => check(store, update))
  }, store)
