import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Attachment, Chat, Json, Member, Message, Update } from "../../src/index.ts"
import { parseMarked } from "../../src/base/internal/json.ts"
import { lazily, openList, openUnion } from "../../src/base/internal/wire.ts"
import { chat, comment, message, seq, user } from "../support/fixtures.ts"

const codecOf = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownResult(schema)
  const encode = Schema.encodeSync(schema)
  return {
    /** Decodes a text as the client does. */
    read: (json: unknown): A => Result.getOrThrow(decode(parseMarked(Json.stringify(json)))),
    problem: (json: unknown): string | undefined => {
      const result = decode(parseMarked(Json.stringify(json)))
      return Result.isFailure(result) ? String(result.failure) : undefined
    },
    write: (value: A): unknown => Json.parse(Json.stringify(encode(value)))
  }
}

const messages = codecOf(Message.Message)
const updates = codecOf(Update.Update)
const chats = codecOf(Chat.Chat)
const comments = codecOf(Message.Comment)
const members = codecOf(Member.ChatMember)

const long = 9007199254740993n

const body = (changes: object) => message({ body: { mid: "m", seq, ...changes } })

const keyboard = (button: object) =>
  body({ attachments: [{ type: "inline_keyboard", payload: { buttons: [[button]] } }] })

describe("wire: unknown types", () => {
  const raw = { id: long, list: [long, { deep: -long }], text: `:${long}`, none: null, type: "from_the_future" }

  it("decodes an unknown update with its raw JSON and exact integers, and encodes it unchanged", () => {
    const future = { ...raw, update_type: "from_the_future", timestamp: 1 }
    assert.deepStrictEqual(updates.read(future), { update_type: "unknown", raw: future })
    assert.deepStrictEqual(updates.write(updates.read(future)), future)
  })

  it("decodes an unknown attachment beside known ones, and encodes it unchanged", () => {
    const image = { type: "image", payload: { photo_id: 5, token: "t", url: "u" } }
    const json = body({ attachments: [image, raw, { type: "location", latitude: 1.5, longitude: -2 }] })
    const attachments = messages.read(json).body?.attachments
    assert.deepStrictEqual(
      attachments?.map(({ type }) => type),
      ["image", "unknown", "location"]
    )
    assert.deepStrictEqual(attachments?.[1], { type: "unknown", raw })
    assert.deepStrictEqual(messages.write(messages.read(json)), json)
  })

  it("decodes an unknown button beside known ones, and encodes it unchanged", () => {
    const json = keyboard(raw)
    const attachment = messages.read(json).body?.attachments?.[0]
    assert.deepStrictEqual(attachment?.type === "inline_keyboard" && attachment.payload.buttons, [
      [{ type: "unknown", raw }]
    ])
    assert.deepStrictEqual(messages.write(messages.read(json)), json)
  })

  it("decodes unknown markup beside known markup, and encodes it unchanged", () => {
    const json = body({ markup: [{ type: "strong", from: 0, length: 1 }, raw] })
    assert.deepStrictEqual(messages.read(json).body?.markup, [
      { type: "strong", from: 0, length: 1 },
      { type: "unknown", raw }
    ])
    assert.deepStrictEqual(messages.write(messages.read(json)), json)
  })

  it("decodes an unknown value of an enumeration unchanged", () => {
    const json = chat({ type: "hologram", status: "frozen" })
    assert.deepStrictEqual(chats.read(json), json as never)
    assert.deepStrictEqual(members.read({ ...user, permissions: ["write", "levitate"] }).permissions, [
      "write",
      "levitate"
    ])
  })

  it("decodes a type that is named like a member of every object as unknown", () => {
    for (const type of ["toString", "__proto__", "constructor", "unknown", ""]) {
      const foreign = Object.fromEntries([
        ["type", type],
        ["n", long]
      ])
      const read = messages.read(body({ attachments: [foreign] })).body?.attachments?.[0]
      assert.deepStrictEqual(read, { type: "unknown", raw: foreign }, type)
    }
  })

  it("decodes an element without a type as unknown", () => {
    const raw = { payload: {}, seq: long }
    const read = messages.read(body({ attachments: [raw, { type: null }] }))
    assert.deepStrictEqual(read.body?.attachments, [
      { type: "unknown", raw },
      { type: "unknown", raw: { type: null } }
    ])
    assert.deepStrictEqual(messages.write(read), body({ attachments: [raw, { type: null }] }))
  })

  it("rejects an update without a type, and a value that is not an object", () => {
    assert.isDefined(messages.problem(body({ attachments: ["image"] })))
    assert.isDefined(updates.problem({ timestamp: 1 }))
    assert.isDefined(updates.problem({ update_type: 5, timestamp: 1 }))
    assert.isDefined(updates.problem(null))
  })
})

describe("wire: malformed values", () => {
  const malformed: ReadonlyArray<readonly [string, (json: never) => string | undefined, unknown]> = [
    ["update", updates.problem, { update_type: "bot_started", timestamp: "now", chat_id: 1, user }],
    ["update without what it needs", updates.problem, { update_type: "bot_started", timestamp: 1, chat_id: 1 }],
    [
      "attachment",
      messages.problem,
      body({ attachments: [{ type: "image", payload: { photo_id: "x", token: "t", url: "u" } }] })
    ],
    ["attachment without payload", messages.problem, body({ attachments: [{ type: "video" }] })],
    ["button", messages.problem, keyboard({ type: "callback", text: 5 })],
    ["markup", messages.problem, body({ markup: [{ type: "strong", from: 0 }] })],
    ["position", messages.problem, body({ seq: 1.5 })],
    ["position in words", messages.problem, body({ seq: "many" })],
    ["text", messages.problem, body({ text: 5 })],
    ["id", members.problem, { ...user, user_id: long }],
    ["list", messages.problem, body({ attachments: {} })]
  ]

  it.each(malformed)("rejects %s", (_, problem, json) => {
    assert.isString(problem(json as never))
  })
})

describe("wire: message_created without a message", () => {
  it("is decoded", () => {
    assert.deepStrictEqual(updates.read({ update_type: "message_created", timestamp: 1 }), {
      update_type: "message_created",
      timestamp: 1
    })
  })
})

describe("wire: null and missing fields", () => {
  const bare: ReadonlyArray<readonly [string, (json: never) => unknown, object, ReadonlyArray<string>]> = [
    [
      "Message",
      messages.read,
      { recipient: { chat_type: "chat" }, timestamp: 1 },
      ["sender", "link", "body", "stat", "url"]
    ],
    ["Recipient", messages.read, message(), ["recipient.chat_id", "recipient.user_id", "recipient.post_id"]],
    ["MessageBody", messages.read, body({}), ["body.text", "body.attachments", "body.markup"]],
    [
      "Chat",
      chats.read,
      chat(),
      [
        "title",
        "icon",
        "owner_id",
        "participants",
        "link",
        "description",
        "dialog_with_user",
        "messages_count",
        "pinned_message"
      ]
    ],
    ["Comment", comments.read, comment(), ["sender", "link", "body.text", "body.markup"]],
    [
      "ChatMember",
      members.read,
      user,
      ["last_name", "username", "last_activity_time", "name", "description", "avatar_url", "full_avatar_url"].concat([
        "last_access_time",
        "is_owner",
        "is_admin",
        "join_time",
        "permissions",
        "alias"
      ])
    ]
  ]

  type Json = Readonly<Record<string, unknown>>

  /** Returns the JSON with another value at a path. */
  const change = (json: object, [key, ...rest]: ReadonlyArray<string>, f: (inner: Json, key: string) => Json): Json =>
    rest.length === 0
      ? f(json as Json, key)
      : { ...json, [key]: change((json as Record<string, object>)[key], rest, f) }

  const without = (inner: Json, key: string): Json =>
    Object.fromEntries(Object.entries(inner).filter(([name]) => name !== key))

  it.each(bare)("are both accepted for each optional field of %s", (_, read, json, fields) => {
    for (const field of fields) {
      const path = field.split(".")
      const absent = change(json, path, without)
      const none = change(json, path, (inner, key) => ({ ...inner, [key]: null }))
      assert.notDeepEqual(read(absent as never), read(none as never), field)
    }
  })
})

describe("wire: fields that the schema does not have", () => {
  it("are ignored at any depth", () => {
    const json = message({ novelty: 1, recipient: { chat_id: 1, chat_type: "chat", novelty: { a: 1 } } })
    assert.deepStrictEqual(
      messages.read(json),
      messages.read(message({ recipient: { chat_id: 1, chat_type: "chat" } }))
    )
  })

  it("are kept in a contact, with exact integers", () => {
    const payload = { vcf_info: "VCARD", user: { user_id: 1, seq: long }, id: long }
    const json = body({ attachments: [{ type: "contact", payload }] })
    assert.deepStrictEqual(messages.read(json).body?.attachments, [{ type: "contact", payload }])
    assert.deepStrictEqual(messages.write(messages.read(json)), json)
  })
})

describe("wire: the position of a message", () => {
  it("is exact in both directions, even if a double cannot hold it", () => {
    for (const position of [seq, 5n, 0n, -seq, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]) {
      const read = messages.read(body({ seq: position }))
      assert.strictEqual(read.body?.seq, position)
      assert.include(Json.stringify(Schema.encodeSync(Message.Message)(read)), `"seq":${position}`)
    }
  })
})

describe("wire: integers that a double cannot hold", () => {
  it("are rejected where a text or an id is expected", () => {
    const read = (json: string) => Update.parse(json)
    const created = (members: string) =>
      `{"update_type":"message_created","timestamp":1,"message":{"recipient":{"chat_id":1,"chat_type":"dialog"},"timestamp":1,"body":{${members}}}}`
    const problem = (json: string) =>
      Result.match(read(json), { onSuccess: () => "", onFailure: (error) => error.problem })
    assert.include(problem(created(`"mid":"m","seq":${long},"text":${long}`)), "`message.body.text` must be a string")
    assert.include(problem(created(`"mid":${long},"seq":${long}`)), "`message.body.mid` must be a string")
    assert.include(
      problem(`{"update_type":"bot_started","timestamp":1,"chat_id":${long},"user":{}}`),
      "`chat_id` must be"
    )
  })
})

interface Contact {
  readonly vcf_info?: string | null
}

/**
 * JSON has no -0 and no undefined, no coordinate is a whole number beyond 2^53, and an unknown member has a raw value of a kind that is
 * unknown.
 */
const onTheWire = (value: unknown): unknown => {
  if (value === 0) return 0
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return 0.5
  if (Array.isArray(value)) return value.map(onTheWire)
  if (typeof value !== "object" || value === null) return value
  const { type, update_type, payload } = value as { type?: unknown; update_type?: unknown; payload?: Contact }
  if (type === "unknown") return { type, raw: { type: "hologram", seq: long } }
  if (update_type === "unknown") return { update_type, raw: { update_type: "eclipse", ids: [long] } }
  if (type === "contact") return { type, payload: { vcf_info: payload?.vcf_info ?? null, id: long } }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, onTheWire(member)]))
}

describe("wire: round trips", () => {
  const schemas: ReadonlyArray<readonly [string, Schema.Codec<unknown, unknown>]> = [
    ...Object.entries({
      Message: Message.Message,
      Chat: Chat.Chat,
      Comment: Message.Comment,
      ChatMember: Member.ChatMember
    }).map(([name, schema]) => [name, schema as unknown as Schema.Codec<unknown, unknown>] as const),
    ...Object.entries(Update.cases).map(
      ([type, schema]) => [`Update ${type}`, schema as unknown as Schema.Codec<unknown, unknown>] as const
    )
  ]

  for (const [name, schema] of schemas) {
    const { read, write } = codecOf(
      name.startsWith("Update") ? (Update.Update as unknown as Schema.Codec<unknown, unknown>) : schema
    )
    it.effect.prop(
      `restore any ${name} from its JSON`,
      { value: Arbitrary.map(Arbitrary.schema(schema), onTheWire) },
      ({ value }) => Effect.sync(() => assert.deepStrictEqual(read(write(value)), value)),
      { arbitrary: { runs: 60, size: 20 } }
    )
  }
})

describe("wire: the time when schemas are created", () => {
  const setUp = () => {
    const created = new Array<string>()
    const kind = <const Type extends string>(type: Type) => {
      created.push(type)
      return Schema.Struct({ type: Schema.tag(type) })
    }
    return { created, kinds: lazily({ star: () => kind("star"), moon: () => kind("moon") }) }
  }

  it("is the first time that a member is read, and each is created once", () => {
    const { created, kinds } = setUp()
    assert.deepStrictEqual(Object.keys(kinds), ["star", "moon"])
    assert.deepStrictEqual(created, [])
    assert.strictEqual(kinds.moon, kinds.moon)
    assert.deepStrictEqual(created, ["moon"])
  })

  it("is the first time that a value is decoded, for the members of an open union and of a list", () => {
    const { created, kinds } = setUp()
    const sky = Schema.Struct({ one: openUnion("type", () => kinds), all: openList("type", () => kinds) })
    const decode = Schema.decodeUnknownSync(sky)
    const encode = Schema.encodeSync(sky)
    assert.deepStrictEqual(created, [])
    const value = { one: { type: "moon" as const }, all: [{ type: "star" as const }] }
    assert.deepStrictEqual(decode(value), value)
    assert.deepStrictEqual(encode(value), value)
    assert.deepStrictEqual(created, ["star", "moon"])
  })
})

describe("wire: videos", () => {
  it("keeps the id and the token of the thumbnail", () => {
    const video = { token: "t", urls: { mp4_720: "u" }, thumbnail: { url: "u", photo_id: seq, token: "p" }, width: 1 }
    assert.deepStrictEqual<unknown>(codecOf(Attachment.Video).read(video), video)
  })
})
