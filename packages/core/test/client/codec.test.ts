import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  Answers,
  type ApiError,
  AttachmentRequest,
  type BotApi,
  Chat,
  Chats,
  Comments,
  Keyboard,
  Me,
  Members,
  Message,
  Messages,
  Subscriptions,
  Updates,
  Uploads,
  User,
  Videos
} from "../../src/index.ts"
import { chat, chat_id, comment, message, mid, user_id } from "../support/fixtures.ts"
import { ok, scripted } from "../support/scripted.ts"

type Call = Effect.Effect<unknown, ApiError.ApiError, BotApi.BotApi>

/** Returns the issues of an invalid request, which must not be sent. */
const issuesOf = Effect.fnUntraced(function* (call: Call) {
  const platform = scripted()
  const error = yield* call.pipe(Effect.flip, Effect.provide(platform.layer()))
  assert.lengthOf(platform.journal, 0)
  if (error._tag !== "RequestFailed" || error.reason._tag !== "InvalidRequest") return assert.fail(error.message)
  for (const { field } of error.reason.issues) assert.include(error.message, field)
  return error.reason.issues.map(({ field, problem }) => `${field} ${problem}`)
})

const done = { success: true }

/** Returns the request that a call sends. */
const sent = Effect.fnUntraced(function* (call: Call, body: unknown = done) {
  const platform = scripted(ok(body))
  yield* call.pipe(Effect.provide(platform.layer()))
  assert.lengthOf(platform.journal, 1)
  return platform.journal[0]
})

/** A request that the types reject, but that JavaScript can pass. */
const untyped = <A>(request: object): A => request as A

const created = { message: message() }

const send = (body: object) => Messages.send(untyped({ chat_id, ...body }))

const sendsText = (length: number) => send({ text: "a".repeat(length) })

describe("codec: texts", () => {
  it.effect("limits the text of a message to 4000 characters", () =>
    Effect.gen(function* () {
      assert.strictEqual(((yield* sent(sendsText(4000), created)).body as { text: string }).text.length, 4000)
      assert.deepStrictEqual(yield* issuesOf(sendsText(4001)), ["text must be at most 4000 characters"])
      assert.deepStrictEqual(yield* issuesOf(Messages.edit({ message_id: mid, text: "a".repeat(4001) })), [
        "text must be at most 4000 characters"
      ])
    })
  )

  it.effect("limits the text of a comment to 4000 characters", () =>
    Effect.gen(function* () {
      const call = (length: number) => Comments.send({ message_id: mid, text: "a".repeat(length) })
      yield* sent(call(4000), comment())
      assert.deepStrictEqual(yield* issuesOf(call(4001)), ["text must be at most 4000 characters"])
      assert.deepStrictEqual(
        yield* issuesOf(Comments.edit({ message_id: mid, comment_id: mid, text: "a".repeat(4001) })),
        ["text must be at most 4000 characters"]
      )
      assert.deepStrictEqual(yield* issuesOf(Comments.send(untyped({ message_id: mid }))), ["text is missing"])
    })
  )

  it.effect("counts an emoji as one character", () =>
    Effect.gen(function* () {
      const emoji = (count: number) => "👋".repeat(count)
      yield* sent(send({ text: emoji(4000) }), created)
      assert.deepStrictEqual(yield* issuesOf(send({ text: emoji(4001) })), ["text must be at most 4000 characters"])
      yield* sent(Chats.edit({ chat_id, title: emoji(200), description: emoji(16_000) }), chat())
      assert.deepStrictEqual(yield* issuesOf(Chats.edit({ chat_id, title: emoji(201) })), [
        "title must be 1 to 200 characters"
      ])
      const keyboard = (count: number) => send({ attachments: [Keyboard.make([Keyboard.callback(emoji(count))])] })
      yield* sent(keyboard(128), created)
      assert.deepStrictEqual(yield* issuesOf(keyboard(129)), [
        "attachments[0].payload.buttons[0][0].text must be 1 to 128 characters, is 129"
      ])
    })
  )

  it.effect("sends the edit of a comment without a text", () =>
    Effect.gen(function* () {
      const link = { type: "reply", mid } as const
      const { body } = yield* sent(Comments.edit({ message_id: mid, comment_id: mid, link }))
      assert.deepStrictEqual(body, { link })
    })
  )

  it.effect("names the full path of an invalid text inside an answer", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* issuesOf(Answers.send({ callback_id: "c", message: { text: "a".repeat(4001) } })), [
        "message.text must be at most 4000 characters"
      ])
    })
  )
})

describe("codec: editing a chat", () => {
  const title = (length: number) => Chats.edit({ chat_id, title: "a".repeat(length) })

  it.effect("limits the title to 1 to 200 characters", () =>
    Effect.gen(function* () {
      yield* sent(title(1), chat())
      yield* sent(title(200), chat())
      assert.deepStrictEqual(yield* issuesOf(title(0)), ["title must be 1 to 200 characters"])
      assert.deepStrictEqual(yield* issuesOf(title(201)), ["title must be 1 to 200 characters"])
    })
  )

  it.effect("limits the description to 16000 characters, and sends an empty one", () =>
    Effect.gen(function* () {
      const description = (length: number) => Chats.edit({ chat_id, description: "a".repeat(length) })
      yield* sent(description(16000), chat())
      assert.deepStrictEqual((yield* sent(description(0), chat())).body, { description: "" })
      assert.deepStrictEqual(yield* issuesOf(description(16001)), ["description must be at most 16000 characters"])
    })
  )

  it.effect("requires exactly one of url, token and photos for the icon", () =>
    Effect.gen(function* () {
      const icon = (icon: AttachmentRequest.PhotoAttachmentRequestPayload) => Chats.edit({ chat_id, icon })
      assert.deepStrictEqual((yield* sent(icon({ token: "t", url: null }), chat())).body, {
        icon: { token: "t", url: null }
      })
      assert.deepStrictEqual(yield* issuesOf(icon({ url: "u", token: "t" })), [
        "icon must have exactly one of url, token and photos, has 2"
      ])
    })
  )
})

const image = AttachmentRequest.image("i")
const video = AttachmentRequest.video("v")
const keyboard = Keyboard.make([Keyboard.callback("a")])

const attach = (...attachments: ReadonlyArray<AttachmentRequest.AttachmentRequest>) => send({ attachments })

const times = <A>(count: number, item: A): ReadonlyArray<A> => Array.from({ length: count }, () => item)

describe("codec: attachments", () => {
  it.effect("limits a message to 12 attachments", () =>
    Effect.gen(function* () {
      yield* sent(attach(...times(12, image)), created)
      yield* sent(attach(...times(11, image), keyboard), created)
      assert.deepStrictEqual(yield* issuesOf(attach(...times(13, image))), [
        "attachments must hold at most 12 attachments, holds 13"
      ])
      assert.deepStrictEqual(yield* issuesOf(attach(...times(12, image), keyboard)), [
        "attachments must hold at most 12 attachments, holds 13"
      ])
    })
  )

  it.effect("counts each picture of an attachment of several pictures", () =>
    Effect.gen(function* () {
      const photos = (count: number) =>
        AttachmentRequest.imageFromPhotos(
          Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { token: "t" }]))
        )
      yield* sent(attach(photos(12)), created)
      assert.deepStrictEqual(yield* issuesOf(attach(photos(12), image)), [
        "attachments must hold at most 12 attachments, holds 13"
      ])
    })
  )

  it.effect("limits a message to one keyboard", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* issuesOf(attach(keyboard, image, keyboard)), [
        "attachments must hold at most one inline_keyboard, holds 2"
      ])
    })
  )

  it.effect("allows images with videos and a keyboard", () =>
    Effect.gen(function* () {
      const { body } = yield* sent(attach(image, video, image, keyboard), created)
      assert.deepStrictEqual(
        (body as { attachments: ReadonlyArray<{ type: string }> }).attachments.map(({ type }) => type),
        ["image", "video", "image", "inline_keyboard"]
      )
    })
  )

  const sole = {
    audio: AttachmentRequest.audio("t"),
    file: AttachmentRequest.file("t"),
    sticker: AttachmentRequest.sticker("c"),
    contact: { type: "contact", payload: { name: "Ann" } }
  } satisfies Record<string, AttachmentRequest.AttachmentRequest>

  it.effect.each(Object.entries(sole))("allows %s alone or with a keyboard", ([type, attachment]) =>
    Effect.gen(function* () {
      yield* sent(attach(attachment), created)
      yield* sent(attach(attachment, keyboard), created)
      const problem = `attachments ${type} must be the only attachment apart from an inline_keyboard`
      assert.deepStrictEqual(yield* issuesOf(attach(attachment, image)), [problem])
      assert.deepStrictEqual(yield* issuesOf(attach(video, attachment, keyboard)), [problem])
      assert.deepStrictEqual(yield* issuesOf(attach(attachment, attachment)), [problem])
    })
  )

  it.effect("sends null, and the empty array that removes all attachments", () =>
    Effect.gen(function* () {
      const edit = (attachments: null | []) => Messages.edit({ message_id: mid, attachments })
      assert.deepStrictEqual((yield* sent(edit([]))).body, { attachments: [] })
      assert.deepStrictEqual((yield* sent(edit(null))).body, { attachments: null })
      assert.deepStrictEqual((yield* sent(Messages.edit({ message_id: mid }))).body, {})
    })
  )

  const picture = (payload: object) => attach(untyped({ type: "image", payload }))

  it.effect("requires exactly one of url, token and photos for an image", () =>
    Effect.gen(function* () {
      const one = "attachments[0].payload must have exactly one of url, token and photos, has"
      for (const payload of [
        { url: "u" },
        { token: "" },
        { photos: { key: { token: "t" } } },
        { url: "u", token: null }
      ]) {
        yield* sent(picture(payload), created)
      }
      assert.deepStrictEqual(yield* issuesOf(picture({})), [`${one} 0`])
      assert.deepStrictEqual(yield* issuesOf(picture({ url: null })), [`${one} 0`])
      assert.deepStrictEqual(yield* issuesOf(picture({ url: "u", token: "" })), [`${one} 2`])
      assert.deepStrictEqual(yield* issuesOf(picture({ token: "t", photos: {}, url: "u" })), [`${one} 3`])
      assert.deepStrictEqual(yield* issuesOf(picture({ url: "" })), [
        "attachments[0].payload.url must have at least one character"
      ])
    })
  )

  it.effect("rejects an unknown type, and a type without its required fields", () =>
    Effect.gen(function* () {
      const kinds = "image, video, audio, file, sticker, contact, inline_keyboard, share, location"
      const bad = [{ type: "hologram" }, 5, { type: "video", payload: {} }, { type: "location", latitude: 1 }]
      assert.deepStrictEqual(yield* issuesOf(send({ attachments: bad })), [
        `attachments[0] must be an object whose type is one of ${kinds}`,
        `attachments[1] must be an object whose type is one of ${kinds}`,
        "attachments[2].payload.token is missing",
        "attachments[3].longitude is missing"
      ])
    })
  )
})

const buttons = (...rows: ReadonlyArray<ReadonlyArray<Keyboard.Button>>) => attach(Keyboard.make(...rows))

const row = (count: number) => times(count, Keyboard.callback("a"))

const at = "attachments[0].payload.buttons"

describe("codec: keyboards", () => {
  it.effect("limits a keyboard to 210 buttons in 30 rows", () =>
    Effect.gen(function* () {
      yield* sent(buttons(...times(30, row(7))), created)
      assert.deepStrictEqual(yield* issuesOf(buttons(...times(31, row(1)))), [
        `${at} must hold at most 30 rows, holds 31`
      ])
      assert.deepStrictEqual(yield* issuesOf(buttons(...times(31, row(7)))), [
        `${at} must hold at most 30 rows, holds 31`,
        `${at} must hold at most 210 buttons, holds 217`
      ])
    })
  )

  it.effect("limits a row to 1 to 7 buttons", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* issuesOf(buttons(row(7), row(8), [])), [
        `${at}[1] must hold at most 7 buttons, holds 8`,
        `${at}[2] must hold at least one button`
      ])
    })
  )

  const wide = {
    link: Keyboard.link("a", "https://a.example"),
    open_app: Keyboard.openApp("a", "app"),
    request_geo_location: Keyboard.requestGeoLocation("a"),
    request_contact: Keyboard.requestContact("a")
  }

  it.effect.each(Object.entries(wide))("limits a row with %s to 3 buttons", ([, button]) =>
    Effect.gen(function* () {
      yield* sent(buttons([...row(2), button]), created)
      assert.deepStrictEqual(yield* issuesOf(buttons([...row(3), button])), [
        `${at}[0] must hold at most 3 buttons if one of them is link, open_app, request_geo_location, request_contact, holds 4`
      ])
    })
  )

  const a = (length: number) => "a".repeat(length)

  const limits: ReadonlyArray<
    readonly [what: string, make: (length: number) => Keyboard.Button, min: number, max: number, issue: string]
  > = [
    ["callback text", (n) => Keyboard.callback(a(n)), 1, 128, "text must be 1 to 128 characters"],
    ["message text", (n) => Keyboard.message(a(n)), 1, 128, "text must be 1 to 128 characters"],
    ["callback payload", (n) => Keyboard.callback("a", a(n)), 0, 1024, "payload must be at most 1024 characters"],
    ["clipboard payload", (n) => Keyboard.clipboard("a", a(n)), 0, 1024, "payload must be at most 1024 characters"],
    [
      "open_app payload",
      (n) => Keyboard.openApp("a", "b", { payload: a(n) }),
      0,
      512,
      "payload must be at most 512 characters"
    ],
    ["link url", (n) => Keyboard.link("a", a(n)), 1, 2048, "url must be 1 to 2048 characters"]
  ]

  it.effect.each(limits)("limits %s", ([, make, min, max, issue]) =>
    Effect.gen(function* () {
      yield* sent(buttons([make(min)]), created)
      yield* sent(buttons([make(max)]), created)
      assert.deepStrictEqual(yield* issuesOf(buttons([make(1)], [make(1), make(max + 1)])), [
        `${at}[1][1].${issue}, is ${max + 1}`
      ])
      if (min > 0) assert.deepStrictEqual(yield* issuesOf(buttons([make(0)])), [`${at}[0][0].${issue}, is 0`])
    })
  )

  it.effect("encodes every type of button, and sends an unknown one unchanged", () =>
    Effect.gen(function* () {
      const raw = { type: "teleport", text: "a", where: 116328127605864690n }
      const { body } = yield* sent(
        buttons(
          [Keyboard.callback("a", "p"), Keyboard.message("b"), { type: "unknown", raw }],
          [Keyboard.link("c", "https://c.example"), Keyboard.requestContact("d")],
          [Keyboard.requestGeoLocation("e", { quick: false }), Keyboard.clipboard("f", "")],
          [Keyboard.openApp("g", "app", { contact_id: 1, payload: "" })]
        ),
        created
      )
      assert.deepStrictEqual(body, {
        attachments: [
          {
            type: "inline_keyboard",
            payload: {
              buttons: [
                [{ type: "callback", text: "a", payload: "p" }, { type: "message", text: "b" }, raw],
                [
                  { type: "link", text: "c", url: "https://c.example" },
                  { type: "request_contact", text: "d" }
                ],
                [
                  { type: "request_geo_location", text: "e", quick: false },
                  { type: "clipboard", text: "f", payload: "" }
                ],
                [{ type: "open_app", text: "g", web_app: "app", contact_id: 1, payload: "" }]
              ]
            }
          }
        ]
      })
    })
  )

  it("is split into rows by Keyboard.grid", () => {
    const rows = (columns: number, count: number) =>
      Keyboard.grid(columns, row(count)).payload.buttons.map(({ length }) => length)
    assert.deepStrictEqual(rows(3, 7), [3, 3, 1])
    assert.deepStrictEqual(rows(3, 0), [])
    assert.deepStrictEqual(rows(0, 2), [1, 1])
  })
})

describe("codec: lists and counts", () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => User.UserId.make(index + 1))

  it.effect("limits the users to add to 1 to 100", () =>
    Effect.gen(function* () {
      const add = (count: number) => Members.add({ chat_id, user_ids: ids(count) })
      yield* sent(add(1))
      assert.lengthOf(((yield* sent(add(100))).body as { user_ids: ReadonlyArray<number> }).user_ids, 100)
      assert.deepStrictEqual(yield* issuesOf(add(101)), ["user_ids must hold at most 100, holds 101"])
      assert.deepStrictEqual(yield* issuesOf(add(0)), ["user_ids must hold at least 1"])
    })
  )

  const counted: ReadonlyArray<readonly [string, (count: number) => Call, unknown, number, string]> = [
    ["Messages.list", (count) => Messages.list({ chat_id, count }), { messages: [] }, 100, "count"],
    ["Comments.list", (count) => Comments.list({ message_id: mid, count }), { messages: [] }, 100, "count"],
    ["Members.list", (count) => Members.list({ chat_id, count }), { members: [] }, 100, "count"],
    ["Updates.list", (limit) => Updates.list({ limit }), { updates: [] }, 1000, "limit"]
  ]

  it.effect.each(counted)("limits the count of %s", ([, call, body, max, field]) =>
    Effect.gen(function* () {
      assert.include((yield* sent(call(1), body)).url, `${field}=1`)
      assert.include((yield* sent(call(max), body)).url, `${field}=${max}`)
      for (const count of [0, max + 1, -1, 1.5, Number.NaN]) {
        const [issue, ...more] = yield* issuesOf(call(count))
        assert.include(
          [`${field} must be a whole number from 1 to ${max}`, `${field} must be an integer`],
          issue,
          String(count)
        )
        assert.notInclude(more.join(), "undefined")
      }
    })
  )

  it.effect("limits the timeout of GET /updates to 0 to 90 seconds", () =>
    Effect.gen(function* () {
      const wait = (timeout: number) => Updates.list({ timeout })
      assert.strictEqual((yield* sent(wait(0), { updates: [] })).url, "/updates?timeout=0")
      yield* sent(wait(90), { updates: [] })
      assert.deepStrictEqual(yield* issuesOf(wait(91)), ["timeout must be a whole number from 0 to 90"])
    })
  )

  it.effect("limits the administrators to 50, and sends an empty array", () =>
    Effect.gen(function* () {
      const admins = (count: number) =>
        Members.setAdmins({ chat_id, admins: ids(count).map((user_id) => ({ user_id, permissions: ["write"] })) })
      yield* sent(admins(50))
      assert.deepStrictEqual((yield* sent(admins(0))).body, { admins: [] })
      assert.deepStrictEqual(yield* issuesOf(admins(51)), ["admins must hold at most 50, holds 51"])
    })
  )

  it.effect("limits the commands to 32, with names of 1 to 64 and descriptions of 1 to 128 characters", () =>
    Effect.gen(function* () {
      const set = (...commands: ReadonlyArray<Me.NewCommand>) => Me.setCommands({ commands })
      yield* sent(set(...times(32, { name: "a".repeat(64), description: "a".repeat(128) })), {})
      assert.deepStrictEqual((yield* sent(set(), {})).body, { commands: [] })
      assert.deepStrictEqual(yield* issuesOf(set(...times(33, { name: "a" }))), [
        "commands must hold at most 32, holds 33"
      ])
      assert.deepStrictEqual(
        yield* issuesOf(
          set({ name: "" }, { name: "a".repeat(65), description: "" }, { name: "a", description: "a".repeat(129) })
        ),
        [
          "commands[0].name must be 1 to 64 characters",
          "commands[1].name must be 1 to 64 characters",
          "commands[1].description must be 1 to 128 characters",
          "commands[2].description must be 1 to 128 characters"
        ]
      )
    })
  )

  it.effect("separates the elements of a query list with commas, each percent-encoded", () =>
    Effect.gen(function* () {
      const message_ids = ["a", "b&c", "d,e"].map((id) => Message.MessageId.make(id))
      assert.strictEqual(
        (yield* sent(Messages.list({ message_ids }), { messages: [] })).url,
        "/messages?message_ids=a,b%26c,d%2Ce"
      )
      assert.strictEqual(
        (yield* sent(Members.list({ chat_id, user_ids: ids(3) }), { members: [] })).url,
        `/chats/${chat_id}/members?user_ids=1,2,3`
      )
      assert.strictEqual(
        (yield* sent(Updates.list({ types: ["message_created", "bot_started"], marker: 116328127605864690n }), {
          updates: []
        })).url,
        "/updates?marker=116328127605864690&types=message_created,bot_started"
      )
    })
  )
})

describe("codec: webhooks", () => {
  const url = "https://bot.example/hook"
  const secret = (secret: string) => Subscriptions.subscribe({ url, secret })
  const problem = "secret must be 5 to 256 characters of A-Z, a-z, 0-9 and hyphen"

  it.effect("limits the secret to 5 to 256 characters of its alphabet", () =>
    Effect.gen(function* () {
      for (const good of ["AZaz0", "a-b-9", "a".repeat(256)]) {
        assert.deepStrictEqual((yield* sent(secret(good))).body, { url, secret: good })
      }
      for (const bad of ["abcd", "", "a".repeat(257), "abcd_", "abc d", "abcde\n", "абвгд"]) {
        assert.deepStrictEqual(yield* issuesOf(secret(bad)), [problem], JSON.stringify(bad))
      }
    })
  )

  it.effect("requires an https:// URL without a port", () =>
    Effect.gen(function* () {
      for (const good of [url, "https://bot.example", "https://bot.example/a:80/b?x=y:1"]) {
        assert.deepStrictEqual((yield* sent(Subscriptions.subscribe({ url: good }))).body, { url: good })
      }
      for (const bad of [
        "http://bot.example",
        "bot.example",
        "https://",
        "",
        " https://bot.example",
        "https:///hook"
      ]) {
        assert.deepStrictEqual(
          yield* issuesOf(Subscriptions.subscribe({ url: bad })),
          ["url must be a complete https:// URL"],
          bad
        )
      }
      for (const bad of ["https://bot.example:8443/hook", "https://bot.example:443", "https://bot.example:/"]) {
        assert.deepStrictEqual(
          yield* issuesOf(Subscriptions.subscribe({ url: bad })),
          ["url must not contain a port: the platform delivers to port 443"],
          bad
        )
      }
    })
  )
})

describe("codec: answers", () => {
  it.effect("requires a callback_id that is not blank", () =>
    Effect.gen(function* () {
      for (const callback_id of ["", " ", "\n\t"]) {
        assert.deepStrictEqual(yield* issuesOf(Answers.send({ callback_id })), [
          "callback_id must have at least one character that is not blank"
        ])
      }
      assert.deepStrictEqual(yield* issuesOf(Answers.send(untyped({}))), ["callback_id is missing"])
      assert.strictEqual((yield* sent(Answers.send({ callback_id: " a " }))).url, "/answers?callback_id=%20a%20")
    })
  )
})

describe("codec: recipients", () => {
  it.effect("requires exactly one of chat_id and user_id", () =>
    Effect.gen(function* () {
      const problem = "chat_id, user_id must be exactly one of these,"
      assert.deepStrictEqual(yield* issuesOf(Messages.send(untyped({ text: "a" }))), [`${problem} none is given`])
      assert.deepStrictEqual(yield* issuesOf(Messages.send(untyped({ chat_id, user_id, text: "a" }))), [
        `${problem} more than one is given`
      ])
      assert.strictEqual((yield* sent(Messages.send({ user_id, text: "a" }), created)).url, "/messages?user_id=42")
      assert.strictEqual(
        (yield* sent(Messages.send({ chat_id: Chat.ChatId.make(0), text: "a" }), created)).url,
        "/messages?chat_id=0"
      )
    })
  )

  it.effect("requires chat_id or message_ids, and accepts both", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* issuesOf(Messages.list(untyped({}))), [
        "chat_id, message_ids must be at least one of these, none is given"
      ])
      const { url } = yield* sent(Messages.list({ chat_id, message_ids: [mid] }), { messages: [] })
      assert.strictEqual(url, `/messages?chat_id=${chat_id}&message_ids=${mid}`)
      assert.deepStrictEqual(yield* issuesOf(Messages.list({ message_ids: [] })), ["message_ids must hold at least 1"])
    })
  )

  it.effect("rejects an id beyond 2^53 instead of rounding it", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* issuesOf(send({ chat_id: 2 ** 53, text: "a" })), ["chat_id must be an integer"])
      assert.deepStrictEqual(yield* issuesOf(send({ chat_id: 1.5, text: "a" })), ["chat_id must be an integer"])
      assert.deepStrictEqual(yield* issuesOf(send({ chat_id: "1", text: "a" })), ["chat_id must be a number"])
    })
  )
})

describe("codec: paths", () => {
  const get = (message_id: string) => Messages.get({ message_id: Message.MessageId.make(message_id) })

  it.effect("percent-encodes a value, so that it cannot address another endpoint", () =>
    Effect.gen(function* () {
      const encoded: ReadonlyArray<readonly [string, string]> = [
        ["a/b", "a%2Fb"],
        ["../chats/1", "..%2Fchats%2F1"],
        ["a?b=c#d", "a%3Fb%3Dc%23d"],
        ["100%", "100%25"],
        ["%2e%2e", "%252e%252e"],
        ["привет 👋", "%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82%20%F0%9F%91%8B"],
        ["...", "..."],
        ["a\\b", "a%5Cb"],
        ["{chatId}", "%7BchatId%7D"]
      ]
      for (const [id, segment] of encoded) {
        assert.strictEqual((yield* sent(get(id), message())).url, `/messages/${segment}`)
      }
    })
  )

  it.effect("rejects an empty value, a dot and two dots", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* issuesOf(get("")), ["message_id must not be empty"])
      assert.deepStrictEqual(yield* issuesOf(get(".")), ['message_id must not be "."'])
      assert.deepStrictEqual(yield* issuesOf(get("..")), ['message_id must not be ".."'])
      assert.deepStrictEqual(yield* issuesOf(Videos.get({ token: ".." })), ['token must not be ".."'])
    })
  )

  it.effect("rejects a value with a lone surrogate, in the query as well", () =>
    Effect.gen(function* () {
      const problem = "must not have a lone surrogate"
      assert.deepStrictEqual(yield* issuesOf(get("a\ud800")), [`message_id ${problem}`])
      assert.deepStrictEqual(yield* issuesOf(Answers.send({ callback_id: "\udc00" })), [`callback_id ${problem}`])
      assert.deepStrictEqual(yield* issuesOf(Messages.list({ message_ids: [mid, Message.MessageId.make("\ud800")] })), [
        `message_ids ${problem}`
      ])
    })
  )

  it.effect("puts several values in the order of the path", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        (yield* sent(Members.removeAdmin({ chat_id, user_id }))).url,
        `/chats/${chat_id}/members/admins/42`
      )
      const { url } = yield* sent(
        Comments.get({ message_id: Message.MessageId.make("p/1"), comment_id: Message.MessageId.make("c/2") }),
        comment()
      )
      assert.strictEqual(url, "/messages/p%2F1/comments/c%2F2")
    })
  )
})

describe("codec: values", () => {
  it.effect("sends falsy values", () =>
    Effect.gen(function* () {
      const { url, body } = yield* sent(
        Messages.send({ chat_id, text: "", notify: false, disable_link_preview: false }),
        created
      )
      assert.strictEqual(url, `/messages?chat_id=${chat_id}&disable_link_preview=false`)
      assert.deepStrictEqual(body, { text: "", notify: false })
      assert.strictEqual(
        (yield* sent(Members.remove({ chat_id, user_id: User.UserId.make(0), block: false }))).url,
        `/chats/${chat_id}/members?user_id=0&block=false`
      )
      assert.strictEqual(
        (yield* sent(Comments.list({ message_id: mid, after: 0, before: 0 }), { messages: [] })).url,
        `/messages/${mid}/comments?after=0&before=0`
      )
      assert.deepStrictEqual((yield* sent(Answers.send({ callback_id: "0", notification: "" }))).body, {
        notification: ""
      })
    })
  )

  it.effect("omits undefined, and omits null in the query but not in the body", () =>
    Effect.gen(function* () {
      const { url, body } = yield* sent(
        Messages.send({ chat_id, user_id: undefined, text: null, link: null, format: undefined, attachments: null }),
        created
      )
      assert.strictEqual(url, `/messages?chat_id=${chat_id}`)
      assert.deepStrictEqual(body, { text: null, link: null, attachments: null })
      assert.strictEqual((yield* sent(Updates.list({ marker: null }), { updates: [] })).url, "/updates")
    })
  )

  it.effect("puts the values where the declaration says, with the token as the Authorization header", () =>
    Effect.gen(function* () {
      const entry = yield* sent(Comments.edit({ message_id: mid, comment_id: Message.MessageId.make("c"), text: "t" }))
      assert.strictEqual(entry.method, "PUT")
      assert.strictEqual(entry.url, `/messages/${mid}/comments?comment_id=c`)
      assert.deepStrictEqual(entry.body, { text: "t" })
      assert.strictEqual(entry.headers["content-type"], "application/json")
      assert.strictEqual(entry.headers["authorization"], "s3cret.Token/With+Signs==")
      assert.isUndefined(entry.headers["traceparent"])
    })
  )

  it.effect("sends no body for a call without one", () =>
    Effect.gen(function* () {
      const { method, url, body } = yield* sent(Uploads.create({ type: "image" }), { url: "https://up.example" })
      assert.deepStrictEqual({ method, url, body }, { method: "POST", url: "/uploads?type=image", body: undefined })
    })
  )

  it.effect("names unknown fields, at any depth", () =>
    Effect.gen(function* () {
      const request = { chat_id, text: "a", chatId: 1, link: { type: "reply", mid, extra: 1 } }
      assert.deepStrictEqual([...(yield* issuesOf(Messages.send(untyped(request))))].sort(), [
        "chatId is not a field of this request",
        "link.extra is not a field of this request"
      ])
      assert.deepStrictEqual(
        yield* issuesOf(send({ attachments: [{ ...image, payload: { token: "t", tokn: "u" } }] })),
        ["attachments[0].payload.tokn is not a field of this request"]
      )
      assert.deepStrictEqual(yield* issuesOf(Chats.get(untyped({ chat_id, a: 1 }))), [
        "a is not a field of this request"
      ])
    })
  )
})

describe("codec: the issues of a request", () => {
  it.effect("are reported all at once", () =>
    Effect.gen(function* () {
      const request = {
        chat_id: "1",
        user_id,
        text: "a".repeat(4001),
        notify: "no",
        format: "rtf",
        link: { type: "quote" },
        attachments: [{ type: "image", payload: { url: "" } }, ...times(12, image)],
        silent: true
      }
      assert.deepStrictEqual([...(yield* issuesOf(Messages.send(untyped(request))))].sort(), [
        "attachments[0].payload.url must have at least one character",
        "chat_id must be a number",
        "chat_id, user_id must be exactly one of these, more than one is given",
        "format must be one of markdown, html",
        "link.mid is missing",
        "link.type must be one of forward, reply",
        "notify must be true or false or null",
        "silent is not a field of this request",
        "text must be at most 4000 characters"
      ])
    })
  )

  it.effect("describe the expected type", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* issuesOf(Uploads.create(untyped({ type: "photo" }))), [
        "type must be one of image, video, audio, file"
      ])
      assert.deepStrictEqual(yield* issuesOf(Members.list(untyped({ chat_id, marker: 1.5 }))), [
        "marker must be a whole number (bigint) or null"
      ])
      assert.deepStrictEqual(yield* issuesOf(Members.add(untyped({ chat_id, user_ids: 1 }))), [
        "user_ids must be a list"
      ])
      assert.deepStrictEqual(yield* issuesOf(send({ text: 5, link: 5 })), [
        "text must be a string or null",
        "link must be an object or null"
      ])
      assert.deepStrictEqual(yield* issuesOf(Me.setCommands(untyped([]))), [" must be an object"])
    })
  )

  it.effect("are on one line of the error message", () =>
    Effect.gen(function* () {
      const error = yield* Messages.send(untyped({ chat_id, text: 1, x: 1 })).pipe(
        Effect.flip,
        Effect.provide(scripted().layer())
      )
      assert.strictEqual(
        error.message,
        "Messages.send: invalid request, nothing was sent: " +
          "`x` is not a field of this request; `text` must be a string or null"
      )
    })
  )
})
