import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Answers from "../../../endpoints/Answers.ts"
import type { BotApi } from "../../../client/BotApi.ts"
import * as Keyboard from "../../../model/Keyboard.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import { MessageText } from "../../../model/NewMessage.ts"
import type { MessageId } from "../../../model/Recipient.ts"
import type { Answer, QuestionOptions } from "../../Conversation.ts"
import type * as Update from "../../../model/Update.ts"
import * as payload from "./payload.ts"
import type { Entry, Waiting } from "./record.ts"
import { toBody } from "./event.ts"
import type { Run } from "./run.ts"

/** The content of a question. */
export interface Question {
  /** The name, prefixed by the names of the conversations around the question. */
  readonly name: string
  readonly answer: Answer<unknown, unknown>
  readonly options: QuestionOptions
  /** In milliseconds. */
  readonly timeout: number | undefined
  readonly back: boolean
  readonly columns: number
  /** How many can be chosen, in a choice of several. */
  readonly several: { readonly min: number; readonly max: number } | undefined
}

type Body = ReturnType<typeof toBody>

const isMessageText = Schema.is(MessageText)

const isAnswer = ([, outcome]: Entry): boolean =>
  outcome === "answer" || outcome === "skipped" || outcome === "unanswered"

/** The message of a question in one run of its conversation: its buttons, and its changes. */
export class QuestionMessage {
  readonly #run: Run
  readonly #slot: string
  readonly #question: Question

  constructor(run: Run, slot: string, question: Question) {
    this.#run = run
    this.#slot = slot
    this.#question = question
  }

  /** The value of the button with a text. */
  valueOf(text: string | undefined): string | undefined {
    if (text === undefined || this.#question.several !== undefined) return undefined
    const isText = (label: string) => label.toLowerCase() === text.toLowerCase()
    for (const [value, label] of Object.entries(this.#question.answer.choices ?? {}))
      if (isText(label)) return payload.choice(value)
    return this.controls.find(({ label }) => isText(label))?.value
  }

  /** Whether there is a question before this one. */
  get hasBefore(): boolean {
    return [...this.#run.entries.values()].some(isAnswer)
  }

  get controls(): ReadonlyArray<{ readonly value: string; readonly label: string }> {
    const { back, options } = this.#question
    const { texts } = this.#run.place
    return [
      ...(options.optional === true ? [{ value: payload.skip, label: texts.skip }] : []),
      ...(back && this.hasBefore ? [{ value: payload.back, label: texts.back }] : [])
    ]
  }

  #button(label: string, value: string): Keyboard.Button {
    const { id, place } = this.#run
    return Keyboard.callback(
      label,
      payload.encode(place.name, { run: id, question: this.#slot, value, user: place.owner })
    )
  }

  /** The buttons of the question, or `undefined` if the question has no buttons. */
  keyboard(chosen: ReadonlyArray<string>): Keyboard.Keyboard | undefined {
    const { answer, columns, several } = this.#question
    const { texts } = this.#run.place
    const choices = Object.entries(answer.choices ?? {}).map(([value, label]) => {
      if (several === undefined) return this.#button(label, payload.choice(value))
      const isChosen = chosen.includes(value)
      return this.#button(isChosen ? texts.chosen + label : label, payload.choiceOfSeveral(value, !isChosen))
    })
    const controls = this.controls.map(({ label, value }) => this.#button(label, value))
    const rows = [
      ...Keyboard.grid(columns, choices).payload.buttons,
      ...(answer.buttons ?? []).map((button) => [button]),
      ...(several === undefined ? [] : [[this.#button(texts.done, payload.done)]]),
      ...(controls.length === 0 ? [] : [controls])
    ]
    return rows.length === 0 ? undefined : Keyboard.make(...rows)
  }

  /** The message of a question does not decide about its answer, so a refusal is only logged. */
  #shown<E, R>(effect: Effect.Effect<unknown, E, R>): Effect.Effect<void, never, R> {
    return this.#run.body.finishing(
      Effect.catch(Effect.asVoid(effect), (error) =>
        Effect.logDebug(`A question of the conversation "${this.#run.place.name}" was not edited: ${String(error)}`)
      )
    )
  }

  notify(press: Update.Of<"message_callback">, notification: string) {
    return this.#shown(Answers.answer(press, notification))
  }

  show(press: Update.Of<"message_callback">, chosen: ReadonlyArray<string>) {
    const keyboard = this.keyboard(chosen)
    return this.#replace(press, ({ attachments }) => ({
      attachments: [...(attachments ?? []), ...(keyboard === undefined ? [] : [keyboard])]
    }))
  }

  /** Shows the message of the question with changes. */
  #replace(press: Update.Of<"message_callback">, changes: (body: Body) => Partial<Body>) {
    const { disable_link_preview, ...body } = toBody(this.#question.options.say)
    const message = { ...body, ...changes(body) }
    return this.#shown(Answers.answer(press, { message, disable_link_preview }))
  }

  /** Removes the buttons, and shows the chosen values. */
  close(waiting: Waiting, press: Update.Of<"message_callback"> | undefined, label: string) {
    if (press === undefined) return this.removeButtons(waiting)
    this.#run.buttons = undefined
    const { say } = this.#question.options
    return this.#replace(press, ({ attachments, text }) => {
      const withLabel = `${text ?? ""}\n${this.#run.place.texts.chosen}${label}`
      // Text in markup could change the meaning of the label, and a text of maximum length leaves no space for the label.
      const isShown = typeof say === "string" && isMessageText(withLabel)
      return { text: isShown ? withLabel : (text ?? null), attachments: attachments ?? [] }
    })
  }

  removeButtons({ message }: Waiting): Effect.Effect<void, never, BotApi> {
    if (message === undefined) return Effect.void
    this.#run.buttons = undefined
    const { attachments } = toBody(this.#question.options.say)
    return this.#shown(Messages.edit({ message_id: message as MessageId, attachments: attachments ?? [] }))
  }
}
