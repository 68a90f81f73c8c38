import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { BotApi } from "../../../client/BotApi.ts"
import { jsonCodecOf } from "../../../inbox/internal/journal/results.ts"
import * as Journal from "../../../inbox/Journal.ts"
import type { Answer, AnyOptions, AskOptions, AttachmentOptions, ChooseOptions } from "../../Conversation.ts"
import type { ConfirmOptions, Content, QuestionOptions, RequestOptions, Talk } from "../../Conversation.ts"
import { CurrentKey, HasUniqueName } from "../../../client/internal/journal/current.ts"
import { defect } from "../../../base/internal/defect.ts"
import * as answers from "./answers.ts"
import { ask, timeoutOf } from "./question.ts"
import { isSuccess } from "./event.ts"
import { predict, type Run } from "./run.ts"

/** The options of a conversation that its questions inherit. */
export interface Defaults {
  readonly timeout?: Duration.Input | undefined
  readonly back?: boolean | undefined
}

/** A conversation that can be a part of another one. */
export interface Part extends Defaults {
  readonly body: (talk: Talk, input: unknown) => Effect.Effect<unknown, unknown, unknown>
}

type Options = QuestionOptions &
  Partial<AskOptions & ChooseOptions & ConfirmOptions & AttachmentOptions & RequestOptions & AnyOptions>

const defaultColumns = 3

/** Creates the operations for the body of a conversation. The names of a part begin with its prefix. */
export const makeTalk = (run: Run, defaults: Defaults, prefix: string): Talk => {
  const question = (name: string, options: Options, answer: Answer<unknown, unknown>) =>
    ask(run, prefix + name, answer, () => ({
      name: prefix + name,
      answer,
      options,
      timeout: timeoutOf(options.timeout, defaults.timeout),
      back: options.back ?? defaults.back ?? false,
      columns: options.columns ?? defaultColumns,
      several:
        options.several === true
          ? { min: options.min ?? 0, max: options.max ?? Object.keys(options.choices!).length }
          : undefined
    }))
  const { conversation, texts } = run.place
  const { rehearse } = run.beginning

  const step = (name: string, schema: Schema.Codec<unknown, unknown>, effect: Effect.Effect<unknown>) =>
    run.operation(prefix + name, (slot): Effect.Effect<unknown, unknown, BotApi> => {
      const entry = run.known(slot)
      const codec = jsonCodecOf(schema)
      const stored = entry?.[1] === "result" ? codec.decode(entry[2] ?? null) : undefined
      if (stored !== undefined && isSuccess(stored)) return stored
      const keyed = Effect.provideService(effect, CurrentKey, run.keyOf(slot))
      const recorded = Journal.step(`conversation ${run.id} ${slot}`, schema, keyed)
      const perform = Effect.flatMap(run.beginStep, () =>
        run.body.critical(
          `the step "${slot}"`,
          run.store.pipe(
            Effect.andThen(Effect.provideService(recorded, HasUniqueName, true)),
            Effect.flatMap((value) =>
              Effect.map(Effect.orDie(codec.encode(value)), (encoded) => {
                run.record([slot, "result", encoded])
                return value
              })
            )
          )
        )
      )
      const execute = rehearse !== undefined ? predict(run, "runs", slot) : perform
      if (stored === undefined) return execute
      return Effect.catch(stored, (error) =>
        Effect.andThen(
          Effect.logWarning(
            `The result of the step "${slot}" of the conversation "${conversation.name}" does not match its schema, so the step runs again: ${error.message}`
          ),
          execute
        )
      )
    })

  const sleep = (name: string, duration: Duration.Input) =>
    run.operation(prefix + name, (slot): Effect.Effect<void, unknown, unknown> => {
      if (run.known(slot) !== undefined) return Effect.void
      const isWaiting = run.waiting?.name === slot && run.waiting.signature === "sleep"
      if (!isWaiting) {
        const millis = Math.round(Duration.toMillis(duration))
        if (millis === Infinity) {
          return defect(`The sleep "${slot}" of the conversation "${conversation.name}" is infinite. It needs an end.`)
        }
        const begin = Effect.flatMap(rehearse !== undefined ? predict(run, "sleeps", slot) : run.begin, () =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            run.wait({ name: slot, signature: "sleep", until: now + Math.max(1, millis) })
            return run.body.pauseBy({ _tag: "Waiting" })
          })
        )
        return run.body.ending(`sleep ("${slot}")`, begin)
      }
      run.reach()
      if (rehearse !== undefined) return predict(run, "continues", slot)
      switch (run.event?._tag) {
        case "Timeout":
          run.event = undefined
          run.record([slot, "done"])
          return Effect.void
        case "Message":
          return run.body.pauseBy({ _tag: "Declined" })
        case "Repeat":
          run.event = undefined
          return Effect.andThen(run.send(texts.wait, `wait ${slot}`), run.body.pauseBy({ _tag: "Waiting" }))
        default:
          return run.body.pauseBy({ _tag: "Waiting" })
      }
    })

  const back = (name: string | undefined) =>
    Effect.suspend(() => {
      // The names in a part begin with the name of the part.
      const isIn = (entry: string) => entry.startsWith(`${name}/`)
      const to = name === undefined || run.entries.has(name) ? name : [...run.entries.keys()].find(isIn)
      if (name === undefined || to !== undefined)
        return run.body.ending("go back", run.body.pauseBy({ _tag: "Back", to }))
      return defect(
        `The conversation "${conversation.name}" cannot go back to "${name}", because nothing of this name has a result.`
      )
    })

  return {
    chat_id: run.place.chat_id,
    user_id: run.user,
    say: (content: Content, options?: { readonly name?: string }) =>
      run.say(content, options?.name === undefined ? undefined : prefix + options.name),
    ask: (name: string, options: Options) => question(name, options, answers.text(options.read)),
    choose: (name: string, options: Options) =>
      question(name, options, (options.several === true ? answers.several : answers.choice)(options.choices!)),
    confirm: (name: string, options: Options) =>
      question(name, options, answers.confirmation(options.yes ?? texts.yes, options.no ?? texts.no)),
    attachment: (name: string, options: Options) => question(name, options, answers.attachment(options.kind!)),
    contact: (name: string, options: Options) => question(name, options, answers.contact(options.button)),
    location: (name: string, options: Options) => question(name, options, answers.location(options.button)),
    any: (name: string, options: Options) => question(name, options, answers.any(options.answers!)),
    step,
    sleep,
    back: (to?: string) => back(to === undefined ? undefined : prefix + to),
    run: (name: string, part: Part, input?: unknown) =>
      run.operation(`${prefix}${name}/`, (slot) => part.body(makeTalk(run, part, slot), input)),
    answeredBy: (name: string) => Effect.sync(() => Option.fromNullishOr(run.entries.get(prefix + name)?.[3]))
  } as unknown as Talk
}
