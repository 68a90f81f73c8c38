import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Endpoint from "../../../client/Endpoint.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import { CurrentTimeout } from "../../../inbox/internal/consumer/currentTimeout.ts"
import { postOf } from "../../../model/internal/postOf.ts"
import * as Text from "../../../model/Text.ts"
import * as Update from "../../../model/Update.ts"
import type { CommonOptions, IdleTimeout, Options, Texts } from "../../LiveMessage.ts"
import { defaultIdleTimeout, failWhenIdle } from "../idle.ts"
import * as contents from "./content.ts"
import { run, type Spec } from "./run.ts"
import * as targets from "./target.ts"

const defaults = { interval: "500 millis", name: "LiveMessage" } as const

export type Recipient = Update.Repliable | Messages.To

const isUpdate = (to: Recipient): to is Update.Repliable => "update_type" in to

/** The platform sends some comments as messages, with the id of their post. */
const isComment = (to: Recipient): boolean =>
  isUpdate(to) && (to.update_type.startsWith("comment_") || postOf(to) !== undefined)

const toText = (input: Text.Input | undefined): Text.Text | undefined =>
  input === undefined ? undefined : Text.concat(input)

export type SendError = Messages.NoChat | Endpoint.Errors<typeof Messages.send>

const toTarget = (to: Recipient, options: CommonOptions): targets.Target<SendError> => {
  if (!isUpdate(to)) return targets.messages(options, (body) => Messages.send({ ...to, ...body }))
  const post = postOf(to)
  const reply = (body: Messages.ReplyContent<Update.RepliableByMessage>) =>
    Messages.reply(to as Update.RepliableByMessage, body)
  return post === undefined ? targets.messages(options, reply) : targets.comments(post, options, reply)
}

export const common = (to: Recipient, options: CommonOptions) =>
  ({
    update: isUpdate(to) ? to : undefined,
    chat_id: isUpdate(to) ? Update.chatOf(to) : to.chat_id,
    target: toTarget(to, options),
    name: options.name ?? defaults.name,
    keyboard: options.keyboard,
    interval: Duration.toMillis(options.interval ?? defaults.interval),
    isTyping: (options.typing ?? true) && !isComment(to),
    isStop: options.isStop ?? (() => false),
    stopsWhenRemoved: true,
    onNextMessage: "queue",
    isRecorded: false,
    onFailure: () => undefined,
    atEnd: (ended) => {
      const {
        attachments = [],
        keyboard,
        notice
      } = typeof options.atEnd === "function" ? options.atEnd(ended) : (options.atEnd ?? {})
      return { attachments, keyboard, notice: toText(notice) }
    }
  }) satisfies Partial<Spec<never, never, SendError>>

/** The share of the time of a handler after which a silent stream fails, so that there is time to say so. */
const idleShare = 0.75

/** The parts of the module `LiveMessage` that a growing text needs. */
export interface Own {
  readonly CurrentTexts: Context.Reference<Texts>
  readonly IdleTimeout: typeof IdleTimeout
}

/** Shows a text that grows. A source can have notes beside the text. */
export const grow = <E, R>(
  { CurrentTexts, IdleTimeout }: Own,
  to: Recipient,
  source: contents.Source<E, R>,
  options: Options<E>
) =>
  Effect.gen(function* () {
    const texts = yield* CurrentTexts
    const {
      format = "markdown",
      idleTimeout = defaultIdleTimeout,
      name = defaults.name,
      onFailure = (error: E | IdleTimeout) => (error instanceof IdleTimeout ? texts.idle : texts.failed),
      onNextMessage = "queue"
    } = options
    const atMost = Duration.millis(idleShare * (yield* CurrentTimeout))
    const timeout = Duration.min(Duration.fromInputUnsafe(idleTimeout), atMost)
    const error = () => new IdleTimeout({ messageName: name, timeout: Duration.toMillis(timeout) })
    return yield* run<E | IdleTimeout, R, SendError>({
      ...common(to, options),
      onNextMessage,
      isRecorded: true,
      content: contents.growingText(isComment(to) && format === "markdown" ? "comment" : format, {
        ...source,
        after: (said) => failWhenIdle(source.after(said), { timeout, isBusy: source.isBusy, error })
      }),
      onFailure: (failure) => toText(Option.isNone(failure) ? texts.failed : onFailure(failure.value))
    })
  })
