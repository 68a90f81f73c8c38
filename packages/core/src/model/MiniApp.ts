/**
 * Verifies the init data that a mini app gets from the platform: who opened the mini app, and in which chat.
 *
 * A mini app is a web page that a button opens (`Keyboard.openApp`). The page sends `window.WebApp.initData` to the server of
 * the bot. Only the signature proves that the data come from the platform, so verify them before you trust them.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ChatId } from "./Chat.ts"
import { nullish } from "../base/internal/wire.ts"
import * as Json from "../base/Json.ts"
import { UserId } from "./User.ts"
import { TaggedError } from "../base/TaggedError.ts"

// Every runtime has `TextEncoder`, but the library is compiled without the types of any runtime.
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

/**
 * The user who opened a mini app.
 *
 * @assumption miniAppInitData
 * @category models
 * @since 0.1.0
 */
export const InitDataUser = Schema.Struct({
  id: UserId,
  first_name: Schema.String,
  last_name: nullish(Schema.String),
  username: nullish(Schema.String),
  language_code: nullish(Schema.String),
  photo_url: nullish(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface InitDataUser extends Schema.Schema.Type<typeof InitDataUser> {}

/**
 * The chat in which a mini app was opened.
 *
 * @assumption miniAppInitData
 * @category models
 * @since 0.1.0
 */
export const InitDataChat = Schema.Struct({ id: ChatId, type: nullish(Schema.String) })

/**
 * @category models
 * @since 0.1.0
 */
export interface InitDataChat extends Schema.Schema.Type<typeof InitDataChat> {}

/**
 * Init data whose signature is valid.
 *
 * @category models
 * @since 0.1.0
 */
export interface InitData {
  /** The time when the platform signed the data, in Unix milliseconds. */
  readonly auth_date: number
  /** The id of the launch of the mini app. */
  readonly query_id: string | undefined
  /** The user who opened the mini app. `undefined` if missing or not decodable. */
  readonly user: InitDataUser | undefined
  /** The chat in which the mini app was opened. `undefined` if missing or not decodable. */
  readonly chat: InitDataChat | undefined
  /** The payload of the link or button that opened the mini app. */
  readonly start_param: string | undefined
  /** The IP address of the user. The field is often missing. */
  readonly ip: string | undefined
  /** All fields as text, without `hash`. */
  readonly fields: Readonly<Record<string, string>>
}

/**
 * Init data are not accepted:
 *
 * - `Malformed`: the data are not a query string, or a field is missing, repeated or not as it must be.
 * - `Forged`: the signature is not that of the platform for this bot.
 * - `Expired`: the data were signed longer than `maxAge` ago.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidInitData extends TaggedError("InvalidInitData", () => ({
  /** The reason why the data are rejected. */
  reason: Schema.Literals(["Malformed", "Forged", "Expired"]),
  /** The problem of the data. The text contains none of their values. */
  problem: Schema.String
})) {
  /** `false`: the same data are never accepted later. */
  readonly isRetryable = false

  override get message() {
    return `The init data of the mini app are not accepted: ${this.problem}.`
  }
}

/**
 * The options of {@link verify}.
 *
 * @category models
 * @since 0.1.0
 */
export interface VerifyOptions {
  /** The token of the bot that owns the mini app. */
  readonly token: Redacted.Redacted
  /** Maximum age of the data. Default: 1 day. */
  readonly maxAge?: Duration.Input | undefined
}

const malformed = (problem: string) => new InvalidInitData({ reason: "Malformed", problem })

const decodeText = (text: string): Result.Result<string, InvalidInitData> =>
  Result.try({
    try: () => decodeURIComponent(text.replaceAll("+", " ")),
    catch: () => malformed("they contain a percent sign that is not followed by an encoded byte")
  })

/** Data that are taken from the address of the mini app are encoded once more. */
const withoutOuterEncoding = (text: string): Result.Result<string, InvalidInitData> =>
  text.includes("=") ? Result.succeed(text) : decodeText(text)

const parse = (initData: string): Result.Result<ReadonlyMap<string, string>, InvalidInitData> =>
  Result.gen(function* () {
    const fields = new Map<string, string>()
    for (const pair of (yield* withoutOuterEncoding(initData)).split("&")) {
      const at = pair.indexOf("=")
      if (at <= 0) return yield* Result.fail(malformed("they are not a query string"))
      const name = yield* decodeText(pair.slice(0, at))
      const value = yield* decodeText(pair.slice(at + 1))
      // The signature covers lines, so a line feed would move text from one field to another.
      if (`${name}${value}`.includes("\n")) return yield* Result.fail(malformed("a field contains a line feed"))
      if (fields.has(name)) return yield* Result.fail(malformed("a field is repeated"))
      fields.set(name, value)
    }
    return fields
  })

const encoder = new TextEncoder()

const macLayer = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : a > b ? 1 : 0)

const textToSign = (fields: Iterable<readonly [string, string]>): Uint8Array =>
  encoder.encode(
    [...fields]
      .sort(byName)
      .map(([name, value]) => `${name}=${value}`)
      .join("\n")
  )

const signingKey = Effect.fnUntraced(function* (token: Redacted.Redacted) {
  const mac = yield* Mac.Mac
  const derivation = yield* Mac.key(Mac.hmacSha256, encoder.encode("WebAppData"))
  return yield* Mac.key(Mac.hmacSha256, yield* mac.sign(derivation, encoder.encode(Redacted.value(token))))
})

// Seconds have at most 11 digits until the year 5138, and milliseconds have had 12 digits since 1973.
const toMillis = (time: number): number => (time < 1e11 ? time * 1000 : time)

const decodeJson = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (text: string | undefined): A | undefined =>
    text === undefined
      ? undefined
      : Option.getOrUndefined(Option.flatMap(Result.getSuccess(Result.try(() => Json.parse(text))), decode))
}

const decodeUser = decodeJson(InitDataUser)

const decodeChat = decodeJson(InitDataChat)

/**
 * Verifies the signature and the age of init data, and returns their content.
 *
 * The data may also be the value of `WebAppData` in the address of the mini app, which is encoded once more. The
 * comparison takes the same time for each wrong signature. The check of the age rejects data that somebody has found
 * later, so let the mini app exchange the data for a session of your own.
 *
 * Fails with {@link InvalidInitData}.
 *
 * **Example** (Who opened the mini app)
 *
 * ```ts
 * import { MiniApp, Settings } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const userOf = Effect.fn(function* (initData: string) {
 *   const token = yield* Settings.token
 *   const { user } = yield* MiniApp.verify(initData, { token, maxAge: "1 hour" })
 *   return user
 * })
 * ```
 *
 * @assumption miniAppInitData
 * @assumption miniAppAuthDate
 * @category verification
 * @since 0.1.0
 */
export const verify = Effect.fnUntraced(function* (
  initData: string,
  { maxAge = "1 day", token }: VerifyOptions
): Effect.fn.Return<InitData, InvalidInitData> {
  const fields = new Map(yield* Effect.fromResult(parse(initData)))
  const hash = fields.get("hash")
  if (hash === undefined) return yield* malformed("they have no `hash`")
  const signature = Hex.decode(hash)
  if (Result.isFailure(signature)) return yield* malformed("`hash` is not hexadecimal")
  fields.delete("hash")
  const isSigned = yield* Effect.flatMap(signingKey(token), (key) =>
    Mac.Mac.use((mac) => mac.verify(key, signature.success, textToSign(fields)))
  ).pipe(Effect.provide(macLayer), Effect.orDie)
  if (!isSigned) {
    return yield* new InvalidInitData({
      reason: "Forged",
      problem: "their signature is not that of the platform for this bot"
    })
  }
  const authDate = fields.get("auth_date") ?? ""
  if (!/^\d{1,15}$/.test(authDate)) return yield* malformed("`auth_date` is missing or is not a time")
  const auth_date = toMillis(Number(authDate))
  const age = (yield* Clock.currentTimeMillis) - auth_date
  if (age > Duration.toMillis(maxAge)) {
    const allowed = Duration.format(Duration.fromInputUnsafe(maxAge))
    return yield* new InvalidInitData({ reason: "Expired", problem: `they were signed more than ${allowed} ago` })
  }
  return {
    auth_date,
    query_id: fields.get("query_id"),
    user: decodeUser(fields.get("user")),
    chat: decodeChat(fields.get("chat")),
    start_param: fields.get("start_param"),
    ip: fields.get("ip"),
    fields: Object.fromEntries(fields)
  }
})

/**
 * Creates init data with the signature of the platform, to test a server that verifies them. Values that are not strings are
 * written as JSON. Default of `auth_date`: the current time, in milliseconds.
 *
 * **Example** (Open a mini app in a test)
 *
 * ```ts
 * import { MiniApp } from "@colloquy/core"
 * import { Redacted } from "effect"
 *
 * const token = Redacted.make("token-of-the-test")
 *
 * const initData = MiniApp.sign({ query_id: "1", user: { id: 42, first_name: "Ann" } }, { token })
 * ```
 *
 * @assumption miniAppInitData
 * @category testing
 * @since 0.1.0
 */
export const sign = Effect.fnUntraced(function* (
  fields: Readonly<Record<string, unknown>>,
  options: {
    /** The token of the bot that owns the mini app. */
    readonly token: Redacted.Redacted
  }
): Effect.fn.Return<string> {
  const auth_date = yield* Clock.currentTimeMillis
  const texts = Object.entries({ auth_date, ...fields }).map(
    ([name, value]) => [name, typeof value === "string" ? value : Json.stringify(value)] as const
  )
  const hash = yield* Effect.flatMap(signingKey(options.token), (key) =>
    Mac.Mac.use((mac) => mac.sign(key, textToSign(texts)))
  ).pipe(Effect.provide(macLayer), Effect.orDie)
  return [...texts, ["hash", Hex.encode(hash)] as const]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&")
})
