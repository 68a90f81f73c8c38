import * as Effect from "effect/Effect"
import type { BotApi } from "../../../client/BotApi.ts"
import type { AnswerInput } from "../../Conversation.ts"
import * as Update from "../../../model/Update.ts"
import { isCommand } from "./answers.ts"
import type { Event } from "./event.ts"
import * as payload from "./payload.ts"
import type { Asked, Asking } from "./question.ts"
import type { Waiting } from "./record.ts"

type Press = Update.Of<"message_callback">

/** Offers an event to a question that was asked in an earlier run. */
export const offer = (asking: Asking, waiting: Waiting, event: Event | undefined): Asked => {
  const { message, question, run, slot, wait } = asking
  const { answer, back, options, several, timeout } = question
  const { texts } = run.place

  const sayAgain = (problem: string): Effect.Effect<unknown, unknown, BotApi> => {
    const { again = texts.again } = options
    return run.send(typeof again === "function" ? again(problem) : again, `again ${slot}`)
  }

  /** The code does not have the button any more, so the question is asked again. */
  const withoutButton = (press: Press | undefined, chosen: ReadonlyArray<string>): Asked => {
    const notified = press === undefined ? Effect.void : message.notify(press, texts.late)
    const closed = Effect.andThen(notified, message.removeButtons(waiting))
    return Effect.andThen(closed, asking.present(waiting, chosen))
  }

  const chooseSeveral = (
    choice: string | undefined,
    value: string,
    { max, min }: NonNullable<typeof several>,
    press: Press
  ): Asked => {
    const choices = answer.choices ?? {}
    const before = (waiting.chosen ?? []).filter((value) => Object.hasOwn(choices, value))
    if (value === payload.done) {
      if (before.length < min) return Effect.andThen(message.notify(press, texts.tooFew(min)), wait)
      const all = Object.keys(choices).filter((value) => before.includes(value))
      const labels = all.map((value) => choices[value]).join(", ")
      return Effect.andThen(message.close(waiting, press, labels || texts.done), asking.accept(all, press))
    }
    if (choice === undefined || !Object.hasOwn(choices, choice)) return withoutButton(press, before)
    const isChosen = before.includes(choice)
    const isChosenThen = payload.isChosenBy(value, isChosen)
    if (isChosenThen && !isChosen && before.length >= max)
      return Effect.andThen(message.notify(press, texts.tooMany(max)), wait)
    const others = before.filter((value) => value !== choice)
    const chosen = isChosenThen ? [...others, choice] : others
    run.wait({ ...waiting, chosen })
    return Effect.andThen(message.show(press, chosen), wait)
  }

  /** Carries out the action of a button. Without a press, the user wrote the text of the button. */
  const act = (value: string, update: Update.Of<"message_created"> | Press, press: Press | undefined): Asked => {
    if (value === payload.skip && options.optional === true)
      return Effect.andThen(message.close(waiting, press, texts.skip), run.take([slot, "skipped"]))
    if (value === payload.back && back && message.hasBefore()) {
      const closed = message.close(waiting, press, texts.back)
      return Effect.andThen(closed, run.body.pauseBy({ _tag: "Back", to: undefined }))
    }
    const choice = payload.choiceOf(value)
    if (several !== undefined && press !== undefined) return chooseSeveral(choice, value, several, press)
    const read = choice === undefined ? undefined : answer.read({ _tag: "Choice", value: choice })
    if (read === undefined) return withoutButton(press, [])
    const label = answer.choices?.[choice!] ?? ""
    return Effect.matchEffect(read, {
      onSuccess: (value) => Effect.andThen(message.close(waiting, press, label), asking.accept(value, update)),
      onFailure: (problem) => Effect.andThen(sayAgain(problem), wait)
    })
  }

  const written = (update: Update.Of<"message_created">): Asked => {
    const declined = run.body.pauseBy({ _tag: "Declined" })
    if (!asking.isAsked(Update.userIdOf(update))) return declined
    const button = message.valueOf(Update.textOf(update)?.trim())
    if (button !== undefined) {
      run.event = undefined
      return act(button, update, undefined)
    }
    const input: AnswerInput = { _tag: "Message", update }
    const read = answer.read(input)
    if (read !== undefined) {
      run.event = undefined
      return Effect.matchEffect(read, {
        onSuccess: (value) => Effect.andThen(message.removeButtons(waiting), asking.accept(value, update)),
        onFailure: (problem) => Effect.andThen(sayAgain(problem), wait)
      })
    }
    if (waiting.signature !== answer.signature) {
      run.event = undefined
      return Effect.andThen(message.removeButtons(waiting), asking.present(waiting))
    }
    if (options.otherwise === undefined || isCommand(input)) return declined
    run.event = undefined
    const handled = run.body.critical(`\`otherwise\` of the question "${slot}"`, options.otherwise(update))
    return Effect.andThen(handled, wait)
  }

  const pressed = ({ press, update }: Extract<Event, { readonly _tag: "Press" }>): Asked => {
    // A press of an older question is not taken, so that the press is answered as late.
    if (press.question !== slot) return wait
    run.event = undefined
    return asking.isAsked(update.callback.user.user_id)
      ? act(press.value, update, update)
      : Effect.andThen(message.notify(update, texts.notYours), wait)
  }

  switch (event?._tag) {
    case undefined:
      return wait
    case "Repeat":
      run.event = undefined
      return asking.present(waiting)
    case "Timeout": {
      run.event = undefined
      if (timeout === undefined) {
        const { until: _, ...rest } = waiting
        run.wait(rest)
        return wait
      }
      run.record([slot, "unanswered"])
      return Effect.andThen(message.removeButtons(waiting), asking.unanswered)
    }
    case "Press":
      return pressed(event)
    case "Message":
      return written(event.update)
  }
}
