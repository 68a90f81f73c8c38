/**
 * What the program itself keeps with a chat: its settings, the step of a conversation, a counter.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { KnownChat } from "./KnownChat.ts"
import { ChatStore } from "./ChatStore.ts"
import * as FieldIssue from "./FieldIssue.ts"
import type { ChatId } from "./Recipient.ts"
import type { StoreError } from "./StoreError.ts"

/**
 * Data is kept with a known chat, and the bot does not know this one: it left the chat, or never heard of it.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownChat extends Data.TaggedError("UnknownChat")<{ readonly chat_id: ChatId; readonly name: string }> {
  override get message() {
    return `ChatData ${this.name}: the chat ${this.chat_id} is not known. Let ChatStore.track see its updates, or import its id.`
  }
}

/**
 * A value does not fit the schema: one to be kept, or one that was kept before the schema changed, which `set` and
 * `remove` can still mend. `raw` is the value.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidChatData extends Data.TaggedError("InvalidChatData")<{
  readonly chat_id: ChatId
  readonly name: string
  readonly problem: string
  readonly raw: unknown
}> {
  override get message() {
    return `ChatData ${this.name} of the chat ${this.chat_id} does not fit its schema: ${this.problem}. A schema that changed must read old values too.`
  }
}

/**
 * Data of one kind. It is removed when the bot leaves the chat.
 *
 * - `get`: none where nothing was set, or the chat is not known. `from` reads it from an entry that is at hand.
 * - `set`, `remove`: whatever is there.
 * - `update`: from what is there to what `f` says, and nobody's write in between is lost: `f` may be called again. Answers
 *   with what was written.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatData<A> {
  readonly name: string
  readonly from: (entry: KnownChat) => Effect.Effect<Option.Option<A>, InvalidChatData>
  readonly get: (chat_id: ChatId) => Effect.Effect<Option.Option<A>, StoreError | InvalidChatData, ChatStore>
  readonly set: (
    chat_id: ChatId,
    value: A
  ) => Effect.Effect<void, StoreError | InvalidChatData | UnknownChat, ChatStore>
  readonly update: (
    chat_id: ChatId,
    f: (current: Option.Option<A>) => A
  ) => Effect.Effect<A, StoreError | InvalidChatData | UnknownChat, ChatStore>
  readonly remove: (chat_id: ChatId) => Effect.Effect<void, StoreError, ChatStore>
}

/**
 * Data under a name, which tells it apart from other data of the same chat, in the shape of a schema.
 *
 * **Example** (The language that a chat chose)
 *
 * ```ts
 * import { ChatData, type Recipient } from "@colloquy/core"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 *
 * const Preferences = ChatData.make("preferences", Schema.Struct({ language: Schema.String, quiet: Schema.Boolean }))
 *
 * export const program = (chat_id: Recipient.ChatId) =>
 *   Effect.gen(function* () {
 *     yield* Preferences.set(chat_id, { language: "ru", quiet: false })
 *     return yield* Preferences.get(chat_id)
 *   })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A, I>(name: string, schema: Schema.Codec<A, I>): ChatData<A> => {
  const codec = Schema.toCodecJson(schema)
  const decode = Schema.decodeUnknownEffect(codec)
  const encode = Schema.encodeEffect(codec)

  const invalid =
    (chat_id: ChatId, raw: unknown) =>
    ({ issue }: Schema.SchemaError) =>
      new InvalidChatData({ chat_id, name, problem: FieldIssue.formatSchemaIssue(issue), raw })

  const from = ({ chat_id, data }: KnownChat) => {
    const raw = data[name]
    return raw === undefined
      ? Effect.succeedNone
      : decode(raw).pipe(Effect.asSome, Effect.mapError(invalid(chat_id, raw)))
  }

  /** Writes what `next` makes of the entry, again where somebody else wrote meanwhile. */
  const write = <B, E>(
    chat_id: ChatId,
    next: (entry: KnownChat) => Effect.Effect<readonly [B, KnownChat["data"]], E>
  ): Effect.Effect<B, E | StoreError | UnknownChat, ChatStore> =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      while (true) {
        const entry = yield* store.get(chat_id)
        if (Option.isNone(entry)) return yield* new UnknownChat({ chat_id, name })
        const [answer, data] = yield* next(entry.value)
        if (yield* store.compareAndSetData(chat_id, entry.value.data, data)) return answer
      }
    })

  const withValue = ({ chat_id, data }: KnownChat, value: A) =>
    encode(value).pipe(
      Effect.map((json) => [value, { ...data, [name]: json }] as const),
      Effect.mapError(invalid(chat_id, value))
    )

  return {
    name,
    from,
    get: (chat_id) =>
      Effect.flatMap(
        ChatStore.use((store) => store.get(chat_id)),
        Option.match({ onNone: () => Effect.succeedNone, onSome: from })
      ),
    set: (chat_id, value) => Effect.asVoid(write(chat_id, (entry) => withValue(entry, value))),
    update: (chat_id, f) =>
      write(chat_id, (entry) => Effect.flatMap(from(entry), (current) => withValue(entry, f(current)))),
    remove: (chat_id) =>
      write(chat_id, ({ data: { [name]: _, ...data } }) => Effect.succeed([undefined, data] as const)).pipe(
        Effect.catchTag("UnknownChat", () => Effect.void)
      )
  }
}
