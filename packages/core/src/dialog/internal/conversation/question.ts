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
import { makeQuestionMessage, type Question, type QuestionMessage } from "./questionMessage.ts"
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

/** A question in one run of its conversation: returns its recorded answer, or sends it and waits. */
export class Asking {
  readonly run: Run
  readonly slot: string
  readonly question: Question
  readonly message: QuestionMessage

  constructor(run: Run, slot: string, question: Question) {
    this.run = run
    this.slot = slot
    this.question = question
    this.message = makeQuestionMessage(run, slot, question)
  }

  answer(entry: Entry | undefined): Asked {
    const run = this.run
    if (entry !== undefined) return this.#answered(entry)
    // While a conversation sleeps, nothing was asked.
    if (run.waiting?.name !== this.slot || run.waiting.signature === "sleep") return this.#ask
    run.reach()
    const { event, waiting } = run
    if (run.rehearse !== undefined) return this.#ifPossible(this.#compare(waiting))
    const offered = Effect.suspend(() => offer(this, waiting, event))
    return event?._tag === "Timeout" ? offered : this.#ifPossible(offered)
  }

  /** Predicts whether the question that waits is asked again. */
  #compare({ choices = [], signature }: Waiting): Asked {
    const { answer } = this.question
    if (signature !== answer.signature) {
      return predict(
        this.run,
        "asks",
        `${this.slot} (unless the next message answers the question, whose kind has changed)`
      )
    }
    const gone = choices.filter((choice) => !Object.hasOwn(answer.choices ?? {}, choice))
    return gone.length === 0
      ? predict(this.run, "continues", this.slot)
      : predict(this.run, "asks", `${this.slot} (after a press of a button that was removed: ${gone.join(", ")})`)
  }

  #ifPossible(asked: Asked): Asked {
    const problem = unanswerable(this.question)
    if (problem === undefined) return this.run.body.ending(`ask "${this.slot}"`, asked)
    return defect(
      `The question "${this.slot}" of the conversation "${this.run.place.name}" cannot be answered: ${problem}.`
    )
  }

  #answered([, outcome, value = null]: Entry): Asked {
    const { answer, options, timeout } = this.question
    switch (outcome) {
      case "answer": {
        const decoded = answer.decode(value)
        const { migrate: migration } = options
        const migrated = migration === undefined ? decoded : Effect.catch(decoded, () => migrate(migration, value))
        return Effect.catch(migrated, () => this.#askAgain)
      }
      case "skipped":
        return options.optional === true ? Effect.void : this.#askAgain
      case "unanswered":
        return timeout === undefined ? this.#askAgain : this.unanswered
      default:
        return this.#askAgain
    }
  }

  /** The result does not fit the code any more. */
  get #askAgain(): Asked {
    return Effect.suspend(() => {
      this.run.forget(this.slot)
      return this.#ask
    })
  }

  get unanswered(): Asked {
    return Effect.suspend(() => {
      const { place } = this.run
      this.run.names.unanswered(this.question.name)
      return Effect.fail(place.unanswered(this.question.name))
    })
  }

  get #ask(): Asked {
    const run = this.run
    const asked = Effect.flatMap(run.begin, () => {
      const kept = run.kept?.name === this.slot ? this.#keptInput(run.kept.update) : undefined
      if (kept === undefined) return this.present(undefined)
      const read = this.question.answer.read(kept)
      return read === undefined
        ? this.present(undefined)
        : Effect.matchEffect(read, {
            onSuccess: (value) => this.accept(value, kept._tag === "Message" ? kept.update : undefined),
            onFailure: () => this.present(undefined)
          })
    })
    return this.#ifPossible(asked)
  }

  #keptInput(text: string): AnswerInput | undefined {
    this.run.kept = undefined
    this.run.changed()
    const update = Result.getOrUndefined(Update.parse(text))
    return update?.update_type === "message_created" && this.isAsked(Update.userIdOf(update))
      ? this.#inputOf(update)
      : undefined
  }

  /** Sends the question, and waits. */
  present(before: Waiting | undefined, chosen: ReadonlyArray<string> = []): Effect.Effect<never, unknown, unknown> {
    const run = this.run
    if (run.rehearse !== undefined) return predict(run, "asks", this.slot)
    const { answer, options, timeout } = this.question
    const choices = answer.signature === "confirmation" ? [] : Object.keys(answer.choices ?? {})
    return Effect.gen({ self: this }, function* () {
      const keyboard = this.message.keyboard(chosen)
      const body = toBody(options.say)
      const content =
        keyboard === undefined ? options.say : { ...body, attachments: [...(body.attachments ?? []), keyboard] }
      const message = yield* run.send(content, `ask ${this.slot}`)
      const now = yield* Clock.currentTimeMillis
      const until = before?.until ?? (timeout === undefined ? undefined : now + timeout)
      run.wait({
        name: this.slot,
        signature: answer.signature,
        ...(choices.length === 0 ? {} : { choices }),
        ...(until === undefined ? {} : { until }),
        ...(chosen.length === 0 ? {} : { chosen }),
        ...(keyboard === undefined || message.body == null ? {} : { message: message.body.mid }),
        ...(keyboard === undefined || !body.attachments?.length ? {} : { attachments: body.attachments })
      })
      return yield* run.body.pauseBy({ _tag: "Waiting" })
    })
  }

  get wait(): Effect.Effect<never> {
    return this.run.body.pauseBy({ _tag: "Waiting" })
  }

  isAsked(user: UserId | undefined): boolean {
    const { from } = this.question.options
    if (from === undefined) return true
    return user !== undefined && (typeof from === "number" ? from === user : from.includes(user))
  }

  #inputOf(update: Update.Of<"message_created">): AnswerInput {
    const value = payload.choiceOf(this.message.valueOf(Update.textOf(update)?.trim()) ?? "")
    return value === undefined ? { _tag: "Message", update } : { _tag: "Choice", value }
  }

  accept(value: unknown, update: Update.Update | undefined): Asked {
    const run = this.run
    const user = run.place.owner === undefined && update !== undefined ? Update.userIdOf(update) : undefined
    const unstorable = (problem: string) =>
      defect(
        `The answer to the question "${this.slot}" of the conversation "${run.place.name}" cannot be stored: ${problem}. Its ` +
          "schema must encode what it decodes."
      )
    return Effect.flatMap(Effect.catch(this.question.answer.encode(value), unstorable), (stored) => {
      const entry: Entry = user === undefined ? [this.slot, "answer", stored] : [this.slot, "answer", stored, user]
      return Effect.as(run.take(entry), value)
    })
  }
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
    return decoded !== undefined && isSuccess(decoded) ? decoded : new Asking(run, slot, make()).answer(entry)
  })
