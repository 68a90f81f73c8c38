import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Answers from "../../../endpoints/Answers.ts"
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

type Press = Update.Of<"message_callback">

const isMessageText = Schema.is(MessageText)

const isAnswer = ([, outcome]: Entry): boolean =>
  outcome === "answer" || outcome === "skipped" || outcome === "unanswered"

/** The message of a question in one run of its conversation: its buttons, and its changes. */
export const makeQuestionMessage = (run: Run, slot: string, question: Question) => {
  const { answer, columns, options, several } = question
  const { conversation, owner, texts } = run.place
  const { name } = conversation
  const choices = Object.entries(answer.choices ?? {})

  const hasBefore = () => [...run.entries.values()].some(isAnswer)

  const controls = () => [
    ...(options.optional === true ? [{ value: payload.skip, label: texts.skip }] : []),
    ...(question.back && hasBefore() ? [{ value: payload.back, label: texts.back }] : [])
  ]

  const button = (label: string, value: string) =>
    Keyboard.callback(label, payload.encode(name, { run: run.id, question: slot, value, user: owner }))

  const keyboard = (chosen: ReadonlyArray<string>): Keyboard.Keyboard | undefined => {
    const choiceButtons = choices.map(([value, label]) => {
      if (several === undefined) return button(label, payload.choice(value))
      const isChosen = chosen.includes(value)
      return button(isChosen ? texts.chosen + label : label, payload.choiceOfSeveral(value, !isChosen))
    })
    const controlButtons = controls().map(({ label, value }) => button(label, value))
    const rows = [
      ...Keyboard.grid(columns, choiceButtons).payload.buttons,
      ...(answer.buttons ?? []).map((button) => [button]),
      ...(several === undefined ? [] : [[button(texts.done, payload.done)]]),
      ...(controlButtons.length === 0 ? [] : [controlButtons])
    ]
    return rows.length === 0 ? undefined : Keyboard.make(...rows)
  }

  /** The message of a question does not decide about its answer, so a refusal is only logged. */
  const shown = <E, R>(effect: Effect.Effect<unknown, E, R>): Effect.Effect<void, never, R> =>
    run.body.finishing(
      Effect.catch(Effect.asVoid(effect), (error) =>
        Effect.logDebug(`A question of the conversation "${name}" was not edited: ${String(error)}`)
      )
    )

  /** Shows the message of the question with changes. */
  const replace = (press: Press, changes: (body: Body) => Partial<Body>) => {
    const { disable_link_preview, ...body } = toBody(options.say)
    const message = { ...body, ...changes(body) }
    return shown(Answers.answer(press, { message, disable_link_preview }))
  }

  const removeButtons = ({ message }: Waiting) => {
    if (message === undefined) return Effect.void
    run.buttons = undefined
    const { attachments = [] } = toBody(options.say)
    return shown(Messages.edit({ message_id: message as MessageId, attachments }))
  }

  return {
    /** Whether there is a question before this one. */
    hasBefore,
    /** The buttons of the question, or `undefined` if the question has no buttons. */
    keyboard,
    /** The value of the button with a text. */
    valueOf: (text: string | undefined): string | undefined => {
      if (text === undefined || several !== undefined) return undefined
      const isText = (label: string) => label.toLowerCase() === text.toLowerCase()
      const choice = choices.find(([, label]) => isText(label))
      return choice === undefined ? controls().find(({ label }) => isText(label))?.value : payload.choice(choice[0])
    },
    notify: (press: Press, notification: string) => shown(Answers.answer(press, notification)),
    show: (press: Press, chosen: ReadonlyArray<string>) => {
      const buttons = keyboard(chosen)
      return replace(press, ({ attachments }) => ({
        attachments: [...(attachments ?? []), ...(buttons === undefined ? [] : [buttons])]
      }))
    },
    /** Removes the buttons, and shows the chosen values. */
    close: (waiting: Waiting, press: Press | undefined, label: string) => {
      if (press === undefined) return removeButtons(waiting)
      run.buttons = undefined
      return replace(press, ({ attachments, text }) => {
        const withLabel = `${text ?? ""}\n${texts.chosen}${label}`
        // Text in markup could change the meaning of the label, and a text of maximum length leaves no space for the label.
        const isShown = typeof options.say === "string" && isMessageText(withLabel)
        return { text: isShown ? withLabel : (text ?? null), attachments: attachments ?? [] }
      })
    },
    removeButtons
  }
}
