import * as Effect from "effect/Effect"
import type { BotApi } from "../../../client/BotApi.ts"
import type { AnswerInput } from "../../Conversation.ts"
import * as Update from "../../../model/Update.ts"
import { isCommand } from "./answers.ts"
import type { Event } from "./event.ts"
import * as payload from "./payload.ts"
import type { Asked, Asking } from "./question.ts"
import type { Question } from "./questionMessage.ts"
import type { Waiting } from "./record.ts"

/** A question that was asked in an earlier run, and the events by which it is answered. */
export class PendingQuestion {
  readonly #asking: Asking
  readonly #waiting: Waiting

  constructor(asking: Asking, waiting: Waiting) {
    this.#asking = asking
    this.#waiting = waiting
  }

  /** Offers an event to the question. */
  offer(event: Event | undefined): Asked {
    const run = this.#asking.run
    switch (event?._tag) {
      case undefined:
        return this.#asking.wait
      case "Repeat":
        run.event = undefined
        return this.#asking.present(this.#waiting)
      case "Timeout": {
        run.event = undefined
        if (this.#asking.question.timeout === undefined) {
          const { until: _, ...rest } = this.#waiting
          run.wait(rest)
          return this.#asking.wait
        }
        run.record([this.#asking.slot, "unanswered"])
        return Effect.andThen(this.#asking.message.removeButtons(this.#waiting), this.#asking.unanswered)
      }
      case "Press":
        return this.#pressed(event)
      case "Message":
        return this.#written(event)
    }
  }

  #written({ update }: Extract<Event, { readonly _tag: "Message" }>): Asked {
    const run = this.#asking.run
    const { answer, options } = this.#asking.question
    const declined = run.body.pauseBy({ _tag: "Declined" })
    if (!this.#asking.isAsked(Update.userIdOf(update))) return declined
    const pressed = this.#asking.message.valueOf(Update.textOf(update)?.trim())
    if (pressed !== undefined) {
      run.event = undefined
      return this.#do(pressed, update, undefined)
    }
    const input: AnswerInput = { _tag: "Message", update }
    const read = answer.read(input)
    if (read !== undefined) {
      run.event = undefined
      return Effect.matchEffect(read, {
        onSuccess: (value) =>
          Effect.andThen(this.#asking.message.removeButtons(this.#waiting), this.#asking.accept(value, update)),
        onFailure: (problem) => Effect.andThen(this.#sayAgain(problem), this.#asking.wait)
      })
    }
    if (this.#waiting.signature !== answer.signature) {
      run.event = undefined
      return Effect.andThen(this.#asking.message.removeButtons(this.#waiting), this.#asking.present(this.#waiting))
    }
    if (options.otherwise === undefined || isCommand(input)) return declined
    run.event = undefined
    const handled = run.body.critical(`\`otherwise\` of the question "${this.#asking.slot}"`, options.otherwise(update))
    return Effect.andThen(handled, this.#asking.wait)
  }

  #sayAgain(problem: string): Effect.Effect<unknown, unknown, BotApi> {
    const { again = this.#asking.run.place.texts.again } = this.#asking.question.options
    return this.#asking.run.send(typeof again === "function" ? again(problem) : again, `again ${this.#asking.slot}`)
  }

  #pressed({ press, update }: Extract<Event, { readonly _tag: "Press" }>): Asked {
    const run = this.#asking.run
    // A press of an older question is not taken, so that the press is answered as late.
    if (press.question !== this.#asking.slot) return this.#asking.wait
    run.event = undefined
    if (!this.#asking.isAsked(update.callback.user.user_id))
      return Effect.andThen(this.#asking.message.notify(update, run.place.texts.notYours), this.#asking.wait)
    return this.#do(press.value, update, update)
  }

  /** Carries out the action of a button. Without a press, the user wrote the text of the button. */
  #do(
    value: string,
    update: Update.Of<"message_created" | "message_callback">,
    press: Update.Of<"message_callback"> | undefined
  ): Asked {
    const run = this.#asking.run
    const { answer, options, several } = this.#asking.question
    if (value === payload.skip && options.optional === true) {
      return Effect.andThen(
        this.#asking.message.close(this.#waiting, press, run.place.texts.skip),
        run.take([this.#asking.slot, "skipped"])
      )
    }
    if (value === payload.back && this.#asking.question.back && this.#asking.message.hasBefore) {
      return Effect.andThen(
        this.#asking.message.close(this.#waiting, press, run.place.texts.back),
        run.body.pauseBy({ _tag: "Back", to: undefined })
      )
    }
    const choice = payload.choiceOf(value)
    if (several !== undefined && press !== undefined) return this.#chooseSeveral(choice, value, several, press)
    const read = choice === undefined ? undefined : answer.read({ _tag: "Choice", value: choice })
    if (read === undefined) return this.#withoutButton(press, [])
    const label = answer.choices?.[choice!] ?? ""
    return Effect.matchEffect(read, {
      onSuccess: (value) =>
        Effect.andThen(this.#asking.message.close(this.#waiting, press, label), this.#asking.accept(value, update)),
      onFailure: (problem) => Effect.andThen(this.#sayAgain(problem), this.#asking.wait)
    })
  }

  /** The code does not have the button any more, so the question is asked again. */
  #withoutButton(press: Update.Of<"message_callback"> | undefined, chosen: ReadonlyArray<string>): Asked {
    const notified =
      press === undefined ? Effect.void : this.#asking.message.notify(press, this.#asking.run.place.texts.late)
    const closed = Effect.andThen(notified, this.#asking.message.removeButtons(this.#waiting))
    return Effect.andThen(closed, this.#asking.present(this.#waiting, chosen))
  }

  #chooseSeveral(
    choice: string | undefined,
    value: string,
    { max, min }: NonNullable<Question["several"]>,
    press: Update.Of<"message_callback">
  ): Asked {
    const run = this.#asking.run
    const { answer } = this.#asking.question
    const { texts } = run.place
    const choices = answer.choices ?? {}
    const before = (this.#waiting.chosen ?? []).filter((value) => Object.hasOwn(choices, value))
    if (value === payload.done) {
      if (before.length < min)
        return Effect.andThen(this.#asking.message.notify(press, texts.tooFew(min)), this.#asking.wait)
      const all = Object.keys(choices).filter((value) => before.includes(value))
      const labels = all.map((value) => choices[value]).join(", ")
      return Effect.andThen(
        this.#asking.message.close(this.#waiting, press, labels || texts.done),
        this.#asking.accept(all, press)
      )
    }
    if (choice === undefined || !Object.hasOwn(choices, choice)) return this.#withoutButton(press, before)
    const isChosen = before.includes(choice)
    const isChosenThen = payload.isChosenBy(value, isChosen)
    if (isChosenThen && !isChosen && before.length >= max)
      return Effect.andThen(this.#asking.message.notify(press, texts.tooMany(max)), this.#asking.wait)
    const others = before.filter((value) => value !== choice)
    const chosen = isChosenThen ? [...others, choice] : others
    run.wait({ ...this.#waiting, chosen })
    return Effect.andThen(this.#asking.message.show(press, chosen), this.#asking.wait)
  }
}
