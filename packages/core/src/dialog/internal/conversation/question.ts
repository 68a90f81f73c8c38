import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Migration } from "../../../bot/State.ts"
import type { AnswerInput } from "../../Conversation.ts"
import * as Update from "../../../model/Update.ts"
import type { UserId } from "../../../model/User.ts"
import { defect } from "../../../base/internal/defect.ts"
import * as payload from "./payload.ts"
import { makeQuestionMessage, type Question } from "./questionMessage.ts"
import type { Entry, Waiting } from "./record.ts"
import { isSuccess, toBody } from "./event.ts"
import { offer } from "./pendingQuestion.ts"
import { predict, type Run } from "./run.ts"

export type Asked = Effect.Effect<unknown, unknown, unknown>

const migrate = (migration: Migration<unknown>, stored: Schema.Json): Asked =>
  Schema.isSchema(migration)
    ? Schema.decodeUnknownEffect(Schema.toCodecJson(migration))(stored)
    : Effect.try({ try: () => migration(stored), catch: String })

/** Returns why a question can never be answered. */
const unanswerable = ({ answer, options, several }: Question): string | undefined => {
  if (Array.isArray(options.from) && options.from.length === 0) return "its `from` is empty, so nobody may answer it"
  const count = Object.keys(answer.choices ?? {}).length
  if (several !== undefined) {
    const most = Math.min(count, several.max)
    return several.min > most
      ? `its \`min\` is ${several.min}, and at most ${most} can be chosen. Lower \`min\``
      : undefined
  }
  if (options.optional === true) return undefined
  if (answer.signature === "") return "it accepts no kind of answer. Add one to its `answers`"
  return answer.signature === "choice" && count === 0
    ? "it has no choices. Add a choice, or do not ask the question while there is none"
    : undefined
}

/** The operations on a question in one run of its conversation. */
const makeAsking = (run: Run, slot: string, question: Question) => {
  const { answer, options, timeout } = question
  const { conversation, owner } = run.place
  const message = makeQuestionMessage(run, slot, question)

  const wait = run.body.pauseBy({ _tag: "Waiting" })

  const unanswered: Asked = Effect.suspend(() => {
    run.names.unanswered(question.name)
    return Effect.fail(conversation.unanswered(question.name))
  })

  const isAsked = (user: UserId | undefined): boolean => {
    const { from } = options
    if (from === undefined) return true
    return user !== undefined && (typeof from === "number" ? from === user : from.includes(user))
  }

  /** Sends the question, and waits. */
  const present = (
    before: Waiting | undefined,
    chosen: ReadonlyArray<string> = []
  ): Effect.Effect<never, unknown, unknown> => {
    if (run.beginning.rehearse !== undefined) return predict(run, "asks", slot)
    const choices = answer.signature === "confirmation" ? [] : Object.keys(answer.choices ?? {})
    return Effect.gen(function* () {
      const keyboard = message.keyboard(chosen)
      const body = toBody(options.say)
      const content =
        keyboard === undefined ? options.say : { ...body, attachments: [...(body.attachments ?? []), keyboard] }
      const sent = yield* run.send(content, `ask ${slot}`)
      const now = yield* Clock.currentTimeMillis
      const until = before?.until ?? (timeout === undefined ? undefined : now + timeout)
      run.wait({
        name: slot,
        signature: answer.signature,
        ...(choices.length === 0 ? {} : { choices }),
        ...(until === undefined ? {} : { until }),
        ...(chosen.length === 0 ? {} : { chosen }),
        ...(keyboard === undefined || sent.body == null ? {} : { message: sent.body.mid }),
        ...(keyboard === undefined || !body.attachments?.length ? {} : { attachments: body.attachments })
      })
      return yield* wait
    })
  }

  const accept = (value: unknown, update: Update.Update | undefined): Asked => {
    const user = owner === undefined && update !== undefined ? Update.userIdOf(update) : undefined
    const unstorable = (problem: string) =>
      defect(
        `The answer to the question "${slot}" of the conversation "${conversation.name}" cannot be stored: ${problem}. Its ` +
          "schema must encode what it decodes."
      )
    return Effect.flatMap(Effect.catch(answer.encode(value), unstorable), (stored) => {
      const entry: Entry = user === undefined ? [slot, "answer", stored] : [slot, "answer", stored, user]
      return Effect.as(run.take(entry), value)
    })
  }

  return { run, slot, question, message, wait, unanswered, isAsked, present, accept }
}

export type Asking = ReturnType<typeof makeAsking>

/** Returns the recorded answer to a question, or sends the question and waits. */
const answerOrAsk = (asking: Asking, entry: Entry | undefined): Asked => {
  const { accept, isAsked, message, present, question, run, slot, unanswered } = asking
  const { answer, options, timeout } = question

  const ifPossible = (asked: Asked): Asked => {
    const problem = unanswerable(question)
    if (problem === undefined) return run.body.ending(`ask "${slot}"`, asked)
    const { name } = run.place.conversation
    return defect(`The question "${slot}" of the conversation "${name}" cannot be answered: ${problem}.`)
  }

  const inputOf = (update: Update.Of<"message_created">): AnswerInput => {
    const value = payload.choiceOf(message.valueOf(Update.textOf(update)?.trim()) ?? "")
    return value === undefined ? { _tag: "Message", update } : { _tag: "Choice", value }
  }

  const keptInput = (text: string): AnswerInput | undefined => {
    run.kept = undefined
    run.changed()
    const update = Result.getOrUndefined(Update.parse(text))
    return update?.update_type === "message_created" && isAsked(Update.userIdOf(update)) ? inputOf(update) : undefined
  }

  const ask = (): Asked => {
    const asked = Effect.flatMap(run.begin, () => {
      const kept = run.kept?.name === slot ? keptInput(run.kept.update) : undefined
      const read = kept && answer.read(kept)
      if (read === undefined) return present(undefined)
      return Effect.matchEffect(read, {
        onSuccess: (value) => accept(value, kept?._tag === "Message" ? kept.update : undefined),
        onFailure: () => present(undefined)
      })
    })
    return ifPossible(asked)
  }

  /** The result does not fit the code any more. */
  const askAgain = Effect.suspend(() => {
    run.forget(slot)
    return ask()
  })

  const answered = ([, outcome, value = null]: Entry): Asked => {
    switch (outcome) {
      case "answer": {
        const decoded = answer.decode(value)
        const { migrate: migration } = options
        const migrated = migration === undefined ? decoded : Effect.catch(decoded, () => migrate(migration, value))
        return Effect.catch(migrated, () => askAgain)
      }
      case "skipped":
        return options.optional === true ? Effect.void : askAgain
      case "unanswered":
        return timeout === undefined ? askAgain : unanswered
      default:
        return askAgain
    }
  }

  /** Predicts whether the question that waits is asked again. */
  const compare = ({ choices = [], signature }: Waiting): Asked => {
    if (signature !== answer.signature) {
      return predict(run, "asks", `${slot} (unless the next message answers the question, whose kind has changed)`)
    }
    const gone = choices.filter((choice) => !Object.hasOwn(answer.choices ?? {}, choice))
    return gone.length === 0
      ? predict(run, "continues", slot)
      : predict(run, "asks", `${slot} (after a press of a button that was removed: ${gone.join(", ")})`)
  }

  if (entry !== undefined) return answered(entry)
  // While a conversation sleeps, nothing was asked.
  if (run.waiting?.name !== slot || run.waiting.signature === "sleep") return ask()
  run.reach()
  const { event, waiting } = run
  if (run.beginning.rehearse !== undefined) return ifPossible(compare(waiting))
  const offered = Effect.suspend(() => offer(asking, waiting, event))
  return event?._tag === "Timeout" ? offered : ifPossible(offered)
}

/**
 * The timeout of a question in milliseconds, or the timeout of its conversation. An infinite timeout counts as no
 * timeout.
 */
export const timeoutOf = (
  own: Duration.Input | undefined,
  inherited: Duration.Input | undefined
): number | undefined => {
  const millis = Duration.toMillis(own ?? inherited ?? Duration.infinity)
  return millis === Infinity ? undefined : millis
}

/**
 * Asks a question, or returns its answer. Most questions of a run have a stored answer that decodes at once, and need
 * no more objects. benchmarks/src/conversations/cpu.ts measures this.
 */
export const ask = (run: Run, name: string, answer: Question["answer"], make: () => Question): Asked =>
  run.operation(name, (slot) => {
    const entry = run.known(slot)
    const decoded = entry?.[1] === "answer" ? answer.decode(entry[2] ?? null) : undefined
    if (decoded !== undefined && isSuccess(decoded)) return decoded
    return answerOrAsk(makeAsking(run, slot, make()), entry)
  })
