import type * as Bot from "@colloquy/core/bot/Bot"
import type { Part } from "@colloquy/core/inbox/Handler"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import type { Row } from "@colloquy/core/inbox/InboxStore"
import type { Entry } from "@colloquy/core/inbox/QueuedUpdate"
import * as Rehearsal from "@colloquy/core/inbox/Rehearsal"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Update from "@colloquy/core/model/Update"
import type { UserId } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { rowsOf } from "../base/stores.ts"
import * as world from "./world.ts"

/** Something that is stored, and what the program would do with it. */
export interface Predicted extends Rehearsal.Prediction {
  readonly kind: "conversation" | "scene" | "state" | "timer" | "menu" | "update" | "dead letter"
  readonly name: string
  /** The scope of the value, or the id of the update. */
  readonly at: string
}

/** The program that is checked. */
export interface Program {
  readonly bot: Bot.Bot<unknown, unknown>
  readonly states: ReadonlyArray<Rehearsal.RehearsedState>
}

const idsOf = (scope: string) => {
  const [, chat, user] = /^(?:chat:(-?\d+))?\/?(?:user:(\d+))?$/.exec(scope) ?? []
  return {
    ...(chat === undefined ? {} : { chat_id: Number(chat) as ChatId }),
    ...(user === undefined ? {} : { user_id: Number(user) as UserId })
  }
}

const continues: Rehearsal.Prediction = { outcome: "continues" }

const unhandled = (detail: string): Rehearsal.Prediction => ({ outcome: "unhandled", detail })

/** Tells a prediction of something that is stored. */
const about =
  (kind: Predicted["kind"], name: string, at: string) =>
  (prediction: Rehearsal.Prediction): Predicted => ({ kind, name, at, ...prediction })

const dialogState = /^(?:(conversation)\/|(scene):)(.*)$/s

const predictDialog = Effect.fnUntraced(function* (
  { bot }: Program,
  kind: "conversation" | "scene",
  name: string,
  scope: string
) {
  const part = bot.parts.find((part) => part.kind === kind && part.name === name)
  if (part === undefined) return unhandled(`the bot has no ${kind} of this name`)
  const ids = idsOf(scope)
  if (kind === "conversation") yield* world.seed(ids)
  return (yield* Rehearsal.rehearseStored(part, ids)) ?? unhandled("the value was deleted meanwhile")
})

/** Predicts what happens with a value of a state, a conversation or a scene. */
const predictValue = Effect.fnUntraced(function* (program: Program, row: Row) {
  const [, segment = "", scope = ""] = /^state\/([^/]*)\/(.*)$/s.exec(row.key) ?? []
  const stateName = decodeURIComponent(segment.replaceAll(/%(?!25|2F)/g, "%25"))
  const [, conversation, scene, dialogName = ""] = dialogState.exec(stateName) ?? []
  const kind = conversation === undefined ? (scene === undefined ? undefined : "scene") : "conversation"
  if (kind !== undefined) {
    return about(kind, dialogName, scope)(yield* predictDialog(program, kind, dialogName, scope))
  }
  const state = program.states.findLast(({ name }) => name === stateName)
  const prediction =
    state === undefined ? unhandled("the program makes no state of this name") : yield* state.rehearse(row, scope)
  return about("state", stateName, scope)(prediction)
})

const isDialogTimer = (name: string): boolean => dialogState.test(name)

const rehearseBy = Effect.fnUntraced(function* (part: Part | undefined, update: Update.Update, missing: string) {
  if (part === undefined) return unhandled(missing)
  return (yield* Rehearsal.rehearse(part, update)) ?? continues
})

const predictTimer = (program: Program, update: Update.TimerUpdate) =>
  rehearseBy(
    program.bot.parts.find(({ kind, timer }) => kind === "timer" && timer === update.name),
    update,
    "the bot has no handler of this timer"
  )

const buttonName = /^(?:menu_(\w+)|conversation\/(.*?):\[|(\w+))/s

/** Predicts what happens with an update that waits, or is a dead letter. Its handler does not run. */
const predictUpdate = Effect.fnUntraced(function* (program: Program, update: Update.Update) {
  const { parts } = program.bot
  if (update.update_type === "colloquy_timer") {
    if (!isDialogTimer(update.name)) return yield* predictTimer(program, update)
    const isPart = parts.some(({ timer }) => timer === update.name)
    return isPart ? continues : unhandled("the bot has no such conversation or scene")
  }
  if (update.update_type === "message_callback") {
    const [, menu, conversation, button] = buttonName.exec(update.callback.payload ?? "") ?? []
    if (menu !== undefined) {
      const part = parts.find(({ kind, name }) => kind === "menu" && name === menu)
      return yield* rehearseBy(part, update, `the bot has no menu "${menu}"`)
    }
    if (conversation !== undefined && !parts.some(({ kind, name }) => kind === "conversation" && name === conversation))
      return unhandled(`the bot has no conversation "${conversation}"`)
    const part = parts.find(({ kind, name }) => kind === "button" && name === button)
    if (part !== undefined) return yield* rehearseBy(part, update, "")
  }
  const isTaken = parts.some((part) => part.kind !== "outdated" && part.handle(update) !== undefined)
  return isTaken ? continues : unhandled("no part of the bot takes the update")
})

const nameOf = (update: Update.Update): string =>
  update.update_type === "colloquy_timer" ? `timer ${update.name}` : update.update_type

const predictEntry = (program: Program, kind: "update" | "dead letter", { id, update: { decoded } }: Entry) =>
  Result.isFailure(decoded)
    ? Effect.succeed(about(kind, "malformed", id)({ outcome: "stale", detail: decoded.failure.problem }))
    : Effect.map(predictUpdate(program, decoded.success), about(kind, nameOf(decoded.success), id))

const isExpired = (now: number, { expiresAt }: Row): boolean => expiresAt !== undefined && expiresAt <= now

const values = (program: Program, now: number) =>
  rowsOf("state/", "key").pipe(
    Stream.filter((row) => !isExpired(now, row)),
    Stream.mapEffect((row) => predictValue(program, row), { concurrency: 16 })
  )

const timers = (program: Program) =>
  rowsOf("timer/", "due").pipe(
    Stream.map(({ key, text }) => ({ key, update: Result.getOrUndefined(Update.parse(text)) })),
    // The values of conversations and scenes tell what happens at their timeouts.
    Stream.filter(({ update }) => update?.update_type !== "colloquy_timer" || !isDialogTimer(update.name)),
    Stream.mapEffect(({ key, update }) =>
      update?.update_type === "colloquy_timer"
        ? Effect.map(predictTimer(program, update), about("timer", update.name, update.key))
        : Effect.succeed(about("timer", "malformed", key)({ outcome: "stale" }))
    )
  )

/** Predicts the effect of a program on all stored data. */
export const predictions = (program: Program, now: number) =>
  Stream.mergeAll(
    [
      values(program, now),
      timers(program),
      Stream.mapEffect(Inbox.queued, (entry) => predictEntry(program, "update", entry)),
      Stream.mapEffect(Inbox.deadLetters, (entry) => predictEntry(program, "dead letter", entry))
    ],
    { concurrency: 1 }
  )
