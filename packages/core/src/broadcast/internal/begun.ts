import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as ApiError from "../../client/ApiError.ts"
import { BotApi } from "../../client/BotApi.ts"
import { BroadcastStore } from "../BroadcastStore.ts"
import type { Message } from "../../model/Message.ts"
import * as Messages from "../../endpoints/Messages.ts"
import type { ChatId } from "../../model/Recipient.ts"
import * as codec from "../../client/internal/codec.ts"
import { parsePlain } from "../../base/internal/json.ts"
import { find } from "../../inbox/internal/journal/lookUp.ts"
import type { Outage } from "../../client/Outage.ts"
import type { Lease } from "./lease.ts"

/** Before the first response of a run, the clocks of the platform and of the store are assumed to differ by at most this. */
const maxDifference = 600_000

/** The same tolerance as in the journal. */
const tolerance = 1000

const isTemporary = (error: ApiError.ApiError): boolean => error._tag === "RequestFailed" && error.isRetryable

export type Request = { readonly chat_id: ChatId } & Omit<Messages.SendRequest, "chat_id" | "user_id">

const { declaration } = Messages.send

/**
 * The recipients whose messages may have been sent without a result. The recipients are stored before the messages are
 * sent, a group at a time.
 */
export const open = Effect.fnUntraced(function* (name: string, { owner, retryStore }: Lease, platform: Outage) {
  const store = yield* BroadcastStore
  const { execute } = yield* BotApi
  const summary = yield* retryStore(store.summary(name))
  const stored = yield* retryStore(store.begun(name))
  const pending = new Set(
    yield* retryStore(
      store.pending(
        name,
        stored.map(({ chat_id }) => chat_id)
      )
    )
  )
  /** The recipients that an earlier run has begun. */
  const uncertain = new Map(stored.flatMap(({ after, chat_id }) => (pending.has(chat_id) ? [[chat_id, after]] : [])))
  const begun = new Map<ChatId, number>()
  /** A time of the platform's clock that is not later than now. */
  let now = Option.match(summary, { onNone: () => 0, onSome: ({ startedAt }) => startedAt - maxDifference })

  const write = Effect.suspend(() => {
    const recipients = [...uncertain, ...begun].map(([chat_id, after]) => ({ chat_id, after }))
    return store.begin({ name, owner, recipients })
  })

  const lookUp = (request: Request, after: number) =>
    Effect.suspend(() => {
      const encoded = codec.of(declaration).encode(request)
      if (Result.isFailure(encoded)) return Effect.succeed(undefined)
      const page = (from: number | undefined) => declaration.lookUp?.page({ request, dialog: undefined, execute }, from)
      const found = find(page, [parsePlain(encoded.success.body ?? "null")], after, execute)
      const retried = platform.retry(found, isTemporary)
      return Effect.map(retried, ([message]) => message as Message | undefined)
    })

  return {
    /** Stores that the messages of these recipients may be sent from now on. */
    begin: (chats: ReadonlyArray<ChatId>) =>
      Effect.suspend(() => {
        const added = chats.filter((chat_id) => !uncertain.has(chat_id))
        for (const chat_id of added) begun.set(chat_id, now - tolerance)
        return added.length === 0 ? Effect.void : retryStore(write)
      }),
    /** Returns the message that an earlier run has sent, where the bot may read the chat. */
    find: (request: Request) =>
      Effect.suspend(() => {
        const after = uncertain.get(request.chat_id)
        return after === undefined ? Effect.succeed(undefined) : lookUp(request, after)
      }),
    /** The result of a recipient is stored. */
    end: (chat_id: ChatId, message: Message | undefined): void => {
      if (message !== undefined) now = Math.max(now, message.timestamp)
      begun.delete(chat_id)
      uncertain.delete(chat_id)
    },
    /** No message is sent any more, and all sent messages have a result. */
    close: Effect.suspend(() => {
      begun.clear()
      return Effect.ignore(write)
    })
  }
})
