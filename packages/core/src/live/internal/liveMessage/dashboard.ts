import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { withLock } from "../../../base/internal/keyedLock.ts"
import * as Journal from "../../../inbox/Journal.ts"
import type { Keyboard } from "../../../model/Keyboard.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import type { NewMessageBody } from "../../../model/NewMessage.ts"
import * as RateLimiter from "../../../client/RateLimiter.ts"
import { type ChatId, MessageId } from "../../../model/Recipient.ts"
import * as State from "../../../bot/State.ts"
import * as Text from "../../../model/Text.ts"
import { CurrentRefresh } from "../../../client/internal/refresh.ts"
import { HasUniqueName } from "../../../client/internal/journal/current.ts"

const Shown = Schema.NullOr(Schema.Struct({ message_id: MessageId, content: Schema.String }))

const makeState = (name: string) =>
  State.make(`colloquy_dashboard:${name}`, Shown, { of: "chat", initial: () => null, onStale: "initial" })

const withoutId = new Error("The platform has sent a message without its id.")

interface Content {
  readonly text: Text.Input
  readonly keyboard?: Keyboard | undefined
}

/** Edits the message of a dashboard. Returns whether a message shows the content, or newer content. */
const edit = Effect.fnUntraced(function* (message_id: MessageId, body: NewMessageBody) {
  const result = yield* Messages.edit({ message_id, ...body }).pipe(
    RateLimiter.withSlot(`LiveMessage ${message_id}`),
    Effect.as("edited" as const),
    Effect.catchTags({
      NotFound: () => Effect.succeed("gone" as const),
      OperationRejected: () => Effect.succeed("refused" as const),
      RateLimited: (error) => (error.isReplaced === true ? Effect.succeed("replaced" as const) : Effect.fail(error))
    })
  )
  if (result === "refused") yield* Effect.ignore(Messages.remove({ message_id }))
  return result
})

/** Creates the operation that shows content in the message of a chat, and sends a message if none can be edited. */
export const make = (name: string) => {
  const state = makeState(name)
  return Effect.fnUntraced(function* (chat_id: ChatId, { keyboard, text }: Content) {
    const shown = state.at({ chat_id })
    // The state has no migrations, and an id of a message is a valid value.
    const read = Effect.catchTag(shown.get, "StaleState", Effect.die)
    const write = (content: string, message_id: MessageId) =>
      Effect.catchTag(shown.set({ message_id, content }), "InvalidState", Effect.die)
    const body = {
      ...Text.message(Text.split(Text.concat(text))[0] ?? Text.empty),
      attachments: keyboard === undefined ? [] : [keyboard]
    }
    const content = JSON.stringify(body)
    for (;;) {
      const before = yield* read
      if (before !== null) {
        const { message_id } = before
        if (before.content === content) return message_id
        const result = yield* edit(message_id, body)
        if (result === "replaced") return message_id
        if (result === "edited") {
          yield* write(content, message_id)
          return message_id
        }
      }
      // Of several calls that find no message, the first sends one, and the others edit the message.
      const sending = Effect.gen(function* () {
        const now = yield* read
        if (now?.message_id !== before?.message_id) return undefined
        // A message of an earlier attempt may have other content.
        let isSent = false
        const send = Effect.provideService(Messages.send({ chat_id, ...body }), CurrentRefresh, {
          endpoint: Messages.send.endpoint,
          read: (request) => {
            isSent = true
            return request
          }
        })
        const named = Journal.named(send, `${name} after ${before?.message_id ?? ""}`)
        const message = yield* Effect.provideService(named, HasUniqueName, true)
        const message_id = message.body?.mid
        if (message_id === undefined) return yield* Effect.die(withoutId)
        yield* write(isSent ? content : "", message_id)
        return isSent ? message_id : undefined
      })
      const sent = yield* withLock(state, chat_id, sending)
      if (sent !== undefined) return sent
    }
  })
}
