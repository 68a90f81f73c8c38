/**
 * Data of the program that is stored with a chat: its settings, the step of a conversation, a counter.
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
 * The chat is not known, so no data can be stored with it: the bot left the chat, or no update of the chat was stored.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownChat extends Data.TaggedError("UnknownChat")<{
  readonly chat_id: ChatId
  readonly dataName: string
}> {
  override get message() {
    return `ChatData "${this.dataName}": the chat ${this.chat_id} is not known. Use ChatStore.track for its updates, or ChatStore.seed for its id.`
  }
}

/**
 * A value does not match the schema: a new one, or one that was stored before the schema changed. `set` and `remove` still
 * work for the latter.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidChatData extends Data.TaggedError("InvalidChatData")<{
  readonly chat_id: ChatId
  readonly dataName: string
  /** What does not match. */
  readonly problem: string
  /** The value. */
  readonly raw: unknown
}> {
  override get message() {
    return `ChatData "${this.dataName}" of the chat ${this.chat_id} does not match its schema: ${this.problem}. A schema that changed must accept old values too.`
  }
}

/**
 * Data of one kind, identified by its name. It is removed when the bot leaves the chat.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChatData<A> {
  /** The name, which distinguishes the data from other data of the same chat. */
  readonly name: string
  /** Decodes the data of a chat that was already read. Returns none if nothing is stored. */
  readonly from: (chat: KnownChat) => Effect.Effect<Option.Option<A>, InvalidChatData>
  /** Reads the data. Returns none if nothing is stored, or if the chat is not known. */
  readonly get: (chat_id: ChatId) => Effect.Effect<Option.Option<A>, StoreError | InvalidChatData, ChatStore>
  /** Replaces the data. */
  readonly set: (
    chat_id: ChatId,
    value: A
  ) => Effect.Effect<void, StoreError | InvalidChatData | UnknownChat, ChatStore>
  /**
   * Replaces the data by the result of `f`, and returns it. The update is atomic: `f` is called again if the data was
   * changed in the meantime.
   */
  readonly update: (
    chat_id: ChatId,
    f: (current: Option.Option<A>) => A
  ) => Effect.Effect<A, StoreError | InvalidChatData | UnknownChat, ChatStore>
  /** Removes the data, if there is any. */
  readonly remove: (chat_id: ChatId) => Effect.Effect<void, StoreError, ChatStore>
}

/**
 * Defines data with a name and a schema.
 *
 * **Example** (The preferences of a chat)
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
      new InvalidChatData({ chat_id, dataName: name, problem: FieldIssue.formatSchemaIssue(issue), raw })

  const from = ({ chat_id, data }: KnownChat) => {
    const raw = data[name]
    return raw === undefined
      ? Effect.succeedNone
      : decode(raw).pipe(Effect.asSome, Effect.mapError(invalid(chat_id, raw)))
  }

  /** Writes the data that `next` makes from the chat, and starts again if the data was changed in the meantime. */
  const write = <B, E>(
    chat_id: ChatId,
    next: (chat: KnownChat) => Effect.Effect<readonly [B, KnownChat["data"]], E>
  ): Effect.Effect<B, E | StoreError | UnknownChat, ChatStore> =>
    Effect.gen(function* () {
      const store = yield* ChatStore
      while (true) {
        const chat = yield* store.get(chat_id)
        if (Option.isNone(chat)) return yield* new UnknownChat({ chat_id, dataName: name })
        const [result, data] = yield* next(chat.value)
        if (yield* store.compareAndSetData(chat_id, chat.value.data, data)) return result
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
    set: (chat_id, value) => Effect.asVoid(write(chat_id, (chat) => withValue(chat, value))),
    update: (chat_id, f) =>
      write(chat_id, (chat) => Effect.flatMap(from(chat), (current) => withValue(chat, f(current)))),
    remove: (chat_id) =>
      write(chat_id, ({ data: { [name]: _, ...data } }) => Effect.succeed([undefined, data] as const)).pipe(
        Effect.catchTag("UnknownChat", () => Effect.void)
      )
  }
}
