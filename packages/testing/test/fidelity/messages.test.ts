import { Keyboard, type Message, Messages, Platform } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../support/fidelity.ts"
import {
  DELETE,
  denied,
  valuesAt,
  GET,
  invalid,
  messageNotFound,
  POST,
  PUT,
  failsWith,
  succeeds,
  hasSuccess
} from "../support/http.ts"
import * as Scene from "../support/scene.ts"

const { midOf } = Scene

says(
  "POST /messages",
  "Sends to a dialog by user_id and to a chat of any type by chat_id, and returns the message in `message`",
  Effect.gen(function* () {
    const { channel, dialog, group, visitor } = yield* Scene.make
    const to = [`user_id=${visitor.user_id}`, ...[dialog, group, channel].map(({ chat_id }) => `chat_id=${chat_id}`)]
    const places = yield* Effect.forEach(to, (query) =>
      Effect.map(succeeds(POST(`/messages?${query}`, { text: "hi" })), ({ at }) => [
        at("message.recipient.chat_id"),
        at("message.recipient.chat_type"),
        at("message.body.text")
      ])
    )
    assert.deepStrictEqual(places, [
      [dialog.chat_id, "dialog", "hi"],
      [dialog.chat_id, "dialog", "hi"],
      [group.chat_id, "chat", "hi"],
      [channel.chat_id, "channel", "hi"]
    ])
  })
)

assumes(
  "C",
  "POST /messages",
  "Exactly one of user_id and chat_id must be given",
  Effect.gen(function* () {
    const { dialog, visitor } = yield* Scene.make
    yield* invalid(POST("/messages", { text: "hi" }))
    yield* invalid(POST(`/messages?chat_id=${dialog.chat_id}&user_id=${visitor.user_id}`, { text: "hi" }))
  })
)

assumes(
  "B",
  "POST /messages",
  "A user_id without a dialog with the bot returns 404 chat.not.found",
  Effect.gen(function* () {
    const { friend } = yield* Scene.make
    yield* failsWith(POST(`/messages?user_id=${friend.user_id}`, { text: "hi" }), 404, "chat.not.found")
  })
)

assumes(
  "A",
  "POST /messages",
  "A message to a user who stopped the bot, by user_id or chat_id, returns 403 chat.denied with error.dialog.suspended",
  Effect.gen(function* () {
    const { dialog, visitor } = yield* Scene.make
    yield* visitor.stop
    for (const query of [`user_id=${visitor.user_id}`, `chat_id=${dialog.chat_id}`]) {
      const { at } = yield* denied(POST(`/messages?${query}`, { text: "hi" }))
      assert.strictEqual(at("message"), "error.dialog.suspended")
    }
  })
)

assumes(
  "A",
  "POST /messages",
  "In a channel the bot needs the right write; without it the request returns 403 chat.send.msg.no.permission.because.not.admin",
  Effect.gen(function* () {
    const { channel, group, owner } = yield* Scene.make
    for (const rights of [undefined, ["read_all_messages"] as const]) {
      yield* owner.setBotAdmin(channel, rights)
      const { at } = yield* denied(POST(`/messages?chat_id=${channel.chat_id}`, { text: "hi" }))
      assert.strictEqual(at("message"), "chat.send.msg.no.permission.because.not.admin")
    }
    yield* owner.setBotAdmin(group, undefined)
    yield* succeeds(POST(`/messages?chat_id=${group.chat_id}`, { text: "hi" }))
  })
)

says(
  "POST /messages",
  "disable_link_preview is a boolean; if it is true, no previews are generated",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const path = `/messages?chat_id=${group.chat_id}&disable_link_preview`
    const { at } = yield* succeeds(POST(`${path}=true`, { text: "https://e.example" }))
    assert.isTrue(at("message.body.attachments") == null)
    yield* succeeds(POST(`${path}=false`, { text: "hi" }))
    yield* invalid(POST(`${path}=1`, { text: "hi" }))
  })
)

says(
  "Message",
  "The sender is absent from a message that was sent to a channel",
  Effect.gen(function* () {
    const { group, channel } = yield* Scene.make
    const post = yield* POST(`/messages?chat_id=${channel.chat_id}`, { text: "hi" })
    assert.isUndefined(post.at("message.sender"))
    const message = yield* POST(`/messages?chat_id=${group.chat_id}`, { text: "hi" })
    assert.strictEqual(message.at("message.sender.user_id"), (yield* GET("/me")).at("user_id"))
  })
)

says(
  "Message",
  "recipient.user_id is the user who receives a message in a dialog; it is absent for group chats and channels",
  Effect.gen(function* () {
    const { asked, dialog, message, post, visitor } = yield* Scene.make
    const recipient = (mid: string) => Effect.map(GET(`/messages/${mid}`), ({ at }) => at("recipient"))
    const { chat_id } = dialog
    assert.deepStrictEqual(yield* recipient(midOf(asked)), { chat_id, chat_type: "dialog", user_id: visitor.user_id })
    for (const { body } of [message, post]) {
      assert.hasAllKeys(yield* recipient(body!.mid), ["chat_id", "chat_type"])
    }
    const sent = yield* visitor.send("hi")
    const bot = (yield* GET("/me")).at("user_id")
    assert.deepInclude(yield* recipient(midOf(sent)), { user_id: bot })
  })
)

says(
  "Message",
  "stat is present in channels only, and counts the users who saw the post",
  Effect.gen(function* () {
    const { message, owner, post, visitor } = yield* Scene.make
    const stat = (mid: string) => Effect.map(GET(`/messages/${mid}`), ({ at }) => at("stat"))
    assert.deepStrictEqual(yield* stat(midOf(post)), { views: 0 })
    yield* visitor.view(post)
    yield* visitor.view(post)
    yield* owner.view(post)
    assert.deepStrictEqual(yield* stat(midOf(post)), { views: 2 })
    yield* visitor.view(message)
    assert.isTrue((yield* stat(midOf(message))) == null)
  })
)

says(
  "Message",
  "A repost counts its views separately",
  Effect.gen(function* () {
    const { owner, post, visitor } = yield* Scene.make
    const other = yield* Emulator.chat({ type: "channel", owner, members: [visitor], bot: { admin: true } })
    const link = { type: "forward" as const, mid: midOf(post) }
    const repost = yield* Messages.send({ chat_id: other.chat_id, text: "Look", link })
    yield* visitor.view(post)
    const views = (mid: string) => Effect.map(GET(`/messages/${mid}`), ({ at }) => at("stat.views"))
    assert.deepStrictEqual([yield* views(midOf(post)), yield* views(midOf(repost))], [1, 0])
    yield* visitor.view(repost)
    yield* owner.view(repost)
    assert.deepStrictEqual([yield* views(midOf(post)), yield* views(midOf(repost))], [1, 2])
  })
)

says(
  "Message",
  "url is the public link to a post of a public channel; it is absent for dialogs and group chats",
  Effect.gen(function* () {
    const { asked, message, owner } = yield* Scene.make
    const { chat_id } = yield* Emulator.chat({ type: "channel", owner, isPublic: true, bot: { admin: true } })
    const { at } = yield* POST(`/messages?chat_id=${chat_id}`, { text: "News" })
    const link = (yield* GET(`/chats/${chat_id}`)).at("link")
    assert.isTrue(String(at("message.url")).startsWith(`${link}/`))
    for (const { body } of [asked, message]) assert.isTrue((yield* GET(`/messages/${body!.mid}`)).at("url") == null)
  })
)

says(
  "Message",
  "A reply links to the message with its sender and without chat_id",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    const sent = yield* visitor.send(group, "hi")
    const link = { type: "reply", mid: midOf(sent) }
    const { at } = yield* succeeds(POST(`/messages?chat_id=${group.chat_id}`, { text: "ho", link }))
    assert.deepStrictEqual(
      [
        at("message.link.type"),
        at("message.link.sender.user_id"),
        at("message.link.message.mid"),
        at("message.body.text")
      ],
      ["reply", visitor.user_id, midOf(sent), "ho"]
    )
    assert.isUndefined(at("message.link.chat_id"))
  })
)

says(
  "Message",
  "A forward contains the chat in which the message was first published",
  Effect.gen(function* () {
    const { dialog, group, message, post } = yield* Scene.make
    for (const original of [message, post]) {
      for (const { chat_id } of [group, dialog]) {
        const link = { type: "forward", mid: midOf(original) }
        const { at } = yield* succeeds(POST(`/messages?chat_id=${chat_id}`, { link }))
        assert.deepStrictEqual(
          [at("message.link.type"), at("message.link.chat_id"), at("message.link.message.mid")],
          ["forward", original.recipient.chat_id, midOf(original)]
        )
        assert.deepStrictEqual<unknown>(at("message.link.sender") ?? null, original.sender ?? null)
      }
    }
  })
)

assumes(
  "C",
  "Message",
  "A forward of a message that only forwards another links to the original, with its content and the chat in which it was first published",
  Effect.gen(function* () {
    const { channel, dialog, group, visitor } = yield* Scene.make
    const original = yield* visitor.send(group, "hi")
    const first = yield* succeeds(
      POST(`/messages?chat_id=${channel.chat_id}`, { link: { type: "forward", mid: midOf(original) } })
    )
    const link = { type: "forward", mid: first.at("message.body.mid") }
    const second = yield* succeeds(POST(`/messages?chat_id=${dialog.chat_id}`, { link }))
    assert.deepStrictEqual(second.at("message.link"), first.at("message.link"))
    assert.deepStrictEqual(
      [
        second.at("message.link.chat_id"),
        second.at("message.link.sender.user_id"),
        second.at("message.link.message.text")
      ],
      [group.chat_id, visitor.user_id, "hi"]
    )
    const commented = yield* succeeds(POST(`/messages?chat_id=${channel.chat_id}`, { text: "Look", link }))
    const own = { type: "forward", mid: commented.at("message.body.mid") }
    const { at } = yield* succeeds(POST(`/messages?chat_id=${dialog.chat_id}`, { link: own }))
    assert.deepStrictEqual([at("message.link.chat_id"), at("message.link.message.text")], [channel.chat_id, "Look"])
  })
)

assumes(
  "B",
  "POST /messages",
  "A forward from a chat that prohibits forwarding returns 403 chat.denied with a text that says so; a reply is sent",
  Effect.gen(function* () {
    const { dialog, group, owner, visitor } = yield* Scene.make
    const closed = yield* Emulator.chat({ owner, members: [visitor], bot: { admin: true }, allowsForwarding: false })
    const mid = midOf(yield* visitor.send(closed, "hi"))
    const { at } = yield* denied(POST(`/messages?chat_id=${group.chat_id}`, { link: { type: "forward", mid } }))
    assert.strictEqual(at("message"), Platform.messageForwardingProhibited)
    yield* succeeds(POST(`/messages?chat_id=${closed.chat_id}`, { text: "ho", link: { type: "reply", mid } }))
    const link = { type: "forward" as const, mid }
    const { reason } = yield* Effect.flip(visitor.send(dialog, "", { link }))
    assert.strictEqual(reason, "forwarding from that chat is prohibited")
    const error = yield* Effect.flip(Messages.send({ chat_id: group.chat_id, link }))
    assert.strictEqual(error._tag, "Forbidden")
  })
)

assumes(
  "B",
  "Message",
  "The body of a message that only forwards another has mid, seq and an empty text, by which a bot can edit, pin and remove it",
  Effect.gen(function* () {
    const { group, post } = yield* Scene.make
    const link = { type: "forward", mid: midOf(post) }
    const pure = yield* POST(`/messages?chat_id=${group.chat_id}`, { link })
    const mid = String(pure.at("message.body.mid"))
    assert.deepStrictEqual(Object.keys(pure.at("message.body") as object), ["mid", "seq", "text"])
    assert.strictEqual((yield* succeeds(GET(`/messages/${mid}`))).at("body.mid"), mid)
    yield* hasSuccess(PUT(`/chats/${group.chat_id}/pin`, { message_id: mid }), true)
    yield* hasSuccess(PUT(`/messages?message_id=${mid}`, { text: "Look" }), true)
    const edited = yield* GET(`/messages/${mid}`)
    assert.deepStrictEqual([edited.at("body.text"), edited.at("link.message.mid")], ["Look", midOf(post)])
    yield* hasSuccess(DELETE(`/messages?message_id=${mid}`), true)
  })
)

says(
  "Message",
  "body may be null when the message only forwards another: the fault `forward_body` makes it so",
  Effect.gen(function* () {
    const { dialog, group, post, visitor } = yield* Scene.make
    const link = { type: "forward" as const, mid: midOf(post) }
    const path = `/messages?chat_id=${group.chat_id}`
    yield* Emulator.setFaults([{ forward_body: "null" }])
    const pure = yield* POST(path, { link })
    assert.isNull(pure.at("message.body"))
    assert.strictEqual(pure.at("message.link.message.mid"), midOf(post))
    assert.strictEqual((yield* POST(path, { text: "Look", link })).at("message.body.text"), "Look")
    yield* Emulator.setFaults([{ forward_body: "absent", update_type: "message_created" }])
    yield* visitor.send(dialog, "", { link: { type: "forward", mid: midOf(yield* visitor.send(dialog, "a")) } })
    const { at } = yield* GET("/updates?timeout=0&types=message_created")
    const messages = (at("updates") as ReadonlyArray<{ readonly message: object }>).map(({ message }) => message)
    assert.deepStrictEqual([messages.length, "body" in messages[0], "body" in messages[1]], [2, true, false])
    assert.isString((yield* POST(path, { link })).at("message.body.mid"))
  })
)

assumes(
  "A",
  "Message",
  "The body of a message has no attachments or markup if the message has none",
  Effect.gen(function* () {
    const { dialog, visitor } = yield* Scene.make
    const location = { type: "location" as const, latitude: 1, longitude: 2 }
    yield* visitor.send(dialog, "", { attachments: [location] })
    yield* visitor.send(dialog, "hi")
    const { at } = yield* GET("/updates?timeout=0&types=message_created")
    const bodies = (at("updates") as ReadonlyArray<{ readonly message: { readonly body: object } }>).map(
      ({ message }) => Object.keys(message.body)
    )
    assert.deepStrictEqual(bodies, [
      ["mid", "seq", "text", "attachments"],
      ["mid", "seq", "text"]
    ])
    const sent = yield* POST(`/messages?chat_id=${dialog.chat_id}`, { attachments: [location] })
    assert.deepStrictEqual(Object.keys(sent.at("message.body") as object), ["mid", "seq", "text", "attachments"])
  })
)

assumes(
  "C",
  "Message",
  "A message without a text has an empty text; the fault `empty_text` makes it null or absent",
  Effect.gen(function* () {
    const { dialog, group, post, visitor } = yield* Scene.make
    const attachments = [{ type: "location" as const, latitude: 1, longitude: 2 }]
    const path = `/messages?chat_id=${group.chat_id}`
    const link = { type: "forward" as const, mid: midOf(post) }
    for (const body of [{ attachments }, { link }]) {
      yield* Emulator.setFaults([])
      assert.strictEqual((yield* POST(path, body)).at("message.body.text"), "")
      yield* Emulator.setFaults([{ empty_text: "null" }])
      assert.isNull((yield* POST(path, body)).at("message.body.text"))
      yield* Emulator.setFaults([{ empty_text: "absent" }])
      assert.notProperty((yield* POST(path, body)).at("message.body"), "text")
    }
    assert.strictEqual((yield* POST(path, { text: "hi" })).at("message.body.text"), "hi")
    yield* Emulator.setFaults([{ empty_text: "absent", update_type: "message_created" }])
    yield* visitor.send(dialog, "", { attachments })
    const bodies = valuesAt(yield* GET("/updates?timeout=0&types=message_created"), "updates", "message.body")
    assert.deepStrictEqual(Object.keys(bodies.at(-1) as object), ["mid", "seq", "attachments"])
  })
)

assumes(
  "B",
  "Message",
  "An unknown tag in a text with `format: html` is removed, and the text in it remains",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const text = "<div>a <b>b</b></div><br/>c"
    const { at } = yield* POST(`/messages?chat_id=${group.chat_id}`, { text, format: "html" })
    assert.deepStrictEqual(
      [at("message.body.text"), at("message.body.markup")],
      ["a bc", [{ type: "strong", from: 2, length: 1 }]]
    )
  })
)

says(
  "Message",
  "Markup elements have type, zero-based from and length; markdown supports every type",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const markup = (text: string, format: string) =>
      Effect.map(succeeds(POST(`/messages?chat_id=${group.chat_id}`, { text, format })), ({ at }) => [
        at("message.body.text"),
        at("message.body.markup")
      ])
    const expected = (type: string, rest: object = {}) => ["a b", [{ type, from: 2, length: 1, ...rest }]]
    const kinds: ReadonlyArray<readonly [string, string, object?]> = [
      ["a *b*", "emphasized"],
      ["a _b_", "emphasized"],
      ["a **b**", "strong"],
      ["a __b__", "strong"],
      ["a ~~b~~", "strikethrough"],
      ["a ++b++", "underline"],
      ["a `b`", "monospaced"],
      ["a ^^b^^", "highlighted"],
      ["a [b](https://e.example)", "link", { url: "https://e.example" }]
    ]
    for (const [text, type, rest] of kinds) {
      assert.deepStrictEqual<unknown>(yield* markup(text, "markdown"), expected(type, rest))
    }
    assert.deepStrictEqual(yield* markup("# b", "markdown"), ["b", [{ type: "heading", from: 0, length: 1 }]])
    assert.deepStrictEqual(yield* markup("> b", "markdown"), ["b", [{ type: "quote", from: 0, length: 1 }]])
  })
)

assumes(
  "A",
  "Message",
  "HTML supports the same types: i em b strong del s ins u a pre code mark blockquote h1",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const types = {
      i: "emphasized",
      em: "emphasized",
      b: "strong",
      strong: "strong",
      del: "strikethrough",
      s: "strikethrough",
      ins: "underline",
      u: "underline",
      code: "monospaced",
      pre: "monospaced",
      mark: "highlighted",
      blockquote: "quote",
      h1: "heading"
    }
    for (const [tag, type] of Object.entries(types)) {
      const text = `<${tag}>a &amp; b</${tag}>`
      const { at } = yield* succeeds(POST(`/messages?chat_id=${group.chat_id}`, { text, format: "html" }))
      assert.deepStrictEqual(
        [at("message.body.text"), at("message.body.markup")],
        ["a & b", [{ type, from: 0, length: 5 }]]
      )
    }
    const text = '<a href="https://e.example">b</a>'
    const { at } = yield* POST(`/messages?chat_id=${group.chat_id}`, { text, format: "html" })
    assert.deepStrictEqual(at("message.body.markup"), [{ type: "link", from: 0, length: 1, url: "https://e.example" }])
  })
)

assumes(
  "C",
  "Message",
  "A quote is recognized; with the fault `quote_markup` only its text remains, with the other markup",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    const path = `/messages?chat_id=${group.chat_id}`
    const quotes = [
      { text: "> a **b**", format: "markdown" as const },
      { text: "<blockquote>a <b>b</b></blockquote>", format: "html" as const }
    ]
    const strong = { type: "strong", from: 2, length: 1 }
    for (const quote of quotes) {
      yield* Emulator.setFaults([])
      const markup = (yield* succeeds(POST(path, quote))).at("message.body.markup")
      assert.deepStrictEqual(markup, [{ type: "quote", from: 0, length: 3 }, strong])
      yield* Emulator.setFaults([{ quote_markup: "absent" }])
      const { at } = yield* succeeds(POST(path, quote))
      assert.deepStrictEqual([at("message.body.text"), at("message.body.markup")], ["a b", [strong]])
    }
    yield* Emulator.setFaults([{ quote_markup: "absent", update_type: "message_created" }])
    yield* visitor.send(group, "> c", { format: "markdown" })
    const updates = yield* GET("/updates?timeout=0&types=message_created")
    assert.deepStrictEqual(Object.keys(updates.at("updates.0.message.body") as object), ["mid", "seq", "text"])
  })
)

assumes(
  "B",
  "Message",
  "from and length count UTF-16 code units",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const { at } = yield* POST(`/messages?chat_id=${group.chat_id}`, { text: "😀 **👍!**", format: "markdown" })
    assert.deepStrictEqual(at("message.body.markup"), [{ type: "strong", from: 3, length: 3 }])
  })
)

says(
  "Message",
  "An image payload has photo_id, token and url; the parameter expires of url is its expiry",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const token = yield* Scene.uploadImage
    const attachments = [{ type: "image", payload: { token } }]
    const { at } = yield* succeeds(POST(`/messages?chat_id=${group.chat_id}`, { attachments }))
    assert.strictEqual(at("message.body.attachments.0.type"), "image")
    assert.hasAllKeys(at("message.body.attachments.0.payload"), ["photo_id", "token", "url"])
    const url = new URL(String(at("message.body.attachments.0.payload.url")))
    assert.isTrue(Number(url.searchParams.get("expires")) > 0)
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "The text has up to 4000 characters",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const path = `/messages?chat_id=${group.chat_id}`
    const text = "a".repeat(4000)
    assert.strictEqual((yield* succeeds(POST(path, { text }))).at("message.body.text"), text)
    yield* invalid(POST(path, { text: `${text}a` }))
  })
)

assumes(
  "C",
  "Request-side message body (NewMessageBody)",
  "A message without text, attachments and link returns 400",
  Effect.gen(function* () {
    const { group, asked } = yield* Scene.make
    for (const body of [{}, { text: "" }, { attachments: [] }, { text: null, attachments: null }, ""]) {
      yield* invalid(POST(`/messages?chat_id=${group.chat_id}`, body))
    }
    yield* invalid(PUT(`/messages?message_id=${midOf(asked)}`, { text: "", attachments: [] }))
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "In an edit, null or omitted attachments change nothing, and an empty array removes all attachments",
  Effect.gen(function* () {
    const { asked } = yield* Scene.make
    const path = `/messages?message_id=${midOf(asked)}`
    const attached = Effect.map(GET(`/messages/${midOf(asked)}`), ({ at }) => at("body.attachments.0.type") ?? null)
    yield* hasSuccess(PUT(path, { text: "b" }), true)
    assert.strictEqual(yield* attached, "inline_keyboard")
    yield* hasSuccess(PUT(path, { text: "c", attachments: null }), true)
    assert.strictEqual(yield* attached, "inline_keyboard")
    yield* hasSuccess(PUT(path, { attachments: [] }), true)
    assert.isNull(yield* attached)
    assert.strictEqual((yield* GET(`/messages/${midOf(asked)}`)).at("body.text"), "c")
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "link has the type and the mid of the original message; a missing message, or one that the bot cannot read, returns 404",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    const secret = yield* visitor.send(yield* Emulator.chat({ owner: visitor, bot: false }), "secret")
    for (const mid of ["mid.0", midOf(secret)]) {
      for (const type of ["reply", "forward"]) {
        yield* messageNotFound(POST(`/messages?chat_id=${group.chat_id}`, { text: "a", link: { type, mid } }))
      }
    }
  })
)

assumes(
  "C",
  "Request-side message body (NewMessageBody)",
  "A message of another chat of the bot can be replied to",
  Effect.gen(function* () {
    const { dialog, message } = yield* Scene.make
    const link = { type: "reply", mid: midOf(message) }
    const { at } = yield* succeeds(POST(`/messages?chat_id=${dialog.chat_id}`, { text: "?", link }))
    assert.deepStrictEqual([at("message.link.type"), at("message.link.message.mid")], ["reply", midOf(message)])
    assert.isUndefined(at("message.link.chat_id"))
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "Links to comments on channel posts are not supported",
  Effect.gen(function* () {
    const { channel, comment } = yield* Scene.make
    for (const type of ["reply", "forward"]) {
      const link = { type, mid: comment.body.mid }
      yield* invalid(POST(`/messages?chat_id=${channel.chat_id}`, { text: "a", link }))
    }
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "If notify is false, members receive no push notification; the default is true",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    for (const notify of [{}, { notify: true }, { notify: false }]) {
      yield* succeeds(POST(`/messages?chat_id=${group.chat_id}`, { text: "hi", ...notify }))
    }
    const pushed = (yield* Emulator.seen).flatMap((event) =>
      event._tag === "Message" && event.message.body?.text === "hi" ? [event.notify] : []
    )
    assert.deepStrictEqual(pushed, [true, true, false])
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "notify is a boolean; for channels it must be true or omitted",
  Effect.gen(function* () {
    const { channel, dialog, group } = yield* Scene.make
    for (const { chat_id } of [dialog, group]) {
      for (const notify of [true, false]) yield* succeeds(POST(`/messages?chat_id=${chat_id}`, { text: "a", notify }))
    }
    const path = `/messages?chat_id=${channel.chat_id}`
    yield* succeeds(POST(path, { text: "a", notify: true }))
    yield* succeeds(POST(path, { text: "a" }))
    yield* invalid(POST(path, { text: "a", notify: false }))
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "For channels notify must also be true or omitted in an edit and in an answer to a callback",
  Effect.gen(function* () {
    const { channel, visitor } = yield* Scene.make
    const keyboard = Keyboard.make([Keyboard.callback("Yes", "yes")])
    const post = yield* Messages.send({ chat_id: channel.chat_id, text: "News", attachments: [keyboard] })
    const callback = yield* visitor.press(post, "Yes")
    const body = { text: "a", notify: false }
    yield* invalid(PUT(`/messages?message_id=${midOf(post)}`, body))
    yield* invalid(POST(`/answers?callback_id=${callback}`, { message: body }))
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "format is markdown or html; without it the text is not changed",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const path = `/messages?chat_id=${group.chat_id}`
    const { at } = yield* POST(path, { text: "**a** <b>b</b>" })
    assert.deepStrictEqual([at("message.body.text"), at("message.body.markup") ?? []], ["**a** <b>b</b>", []])
    for (const format of ["Markdown", "md", ""]) yield* invalid(POST(path, { text: "a", format }))
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "An image has exactly one of url, token and photos; the url has at least one character",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const send = (payload: unknown) =>
      POST(`/messages?chat_id=${group.chat_id}`, { attachments: [{ type: "image", payload }] })
    const url = "https://p.example/1.png"
    const token = yield* Scene.uploadImage
    const payloads = [{ url }, { token }, { photos: { k: { token } } }, { url, token: null, photos: null }]
    for (const payload of payloads) {
      assert.strictEqual((yield* succeeds(send(payload))).at("message.body.attachments.0.type"), "image")
    }
    const wrong = [
      {},
      { url: "" },
      { url: "1.png" },
      { url: " " },
      { url, token },
      { token, photos: {} },
      { photos: {} },
      { token: 5 },
      null
    ]
    for (const payload of wrong) yield* invalid(send(payload))
    const withText = { text: "a", attachments: [{ type: "image", payload: { photos: {} } }] }
    yield* invalid(POST(`/messages?chat_id=${group.chat_id}`, withText))
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "A token can be used many times",
  Effect.gen(function* () {
    const { dialog, group } = yield* Scene.make
    const attachments = [{ type: "image", payload: { token: yield* Scene.uploadImage } }]
    for (const { chat_id } of [dialog, group, group])
      yield* succeeds(POST(`/messages?chat_id=${chat_id}`, { attachments }))
  })
)

const picture = { type: "image", payload: { url: "https://p.example/1.png" } }
const keyboard = { type: "inline_keyboard", payload: { buttons: [[{ type: "callback", text: "Yes", payload: "y" }]] } }

says(
  "Request-side message body (NewMessageBody)",
  "At most 12 attachments in total; each image of photos counts",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const send = (...attachments: ReadonlyArray<unknown>) => POST(`/messages?chat_id=${group.chat_id}`, { attachments })
    const pictures = (count: number) => Array.from({ length: count }, () => picture)
    yield* succeeds(send(...pictures(12)))
    yield* succeeds(send(...pictures(11), keyboard))
    yield* invalid(send(...pictures(13)))
    yield* invalid(send(...pictures(12), keyboard))
    const token = yield* Scene.uploadImage
    const photos = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`k${i}`, { token }]))
    yield* invalid(send({ type: "image", payload: { photos } }))
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "Images may be combined with videos and at most one inline_keyboard",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const send = (...attachments: ReadonlyArray<unknown>) => POST(`/messages?chat_id=${group.chat_id}`, { attachments })
    const video = { type: "video", payload: { token: yield* Scene.uploadVideo } }
    const { at } = yield* succeeds(send(picture, video, keyboard))
    assert.deepStrictEqual(
      (at("message.body.attachments") as ReadonlyArray<{ type: string }>).map(({ type }) => type),
      ["image", "video", "inline_keyboard"]
    )
    yield* invalid(send(picture, keyboard, keyboard))
    const location = { type: "location", latitude: 1, longitude: 2 }
    for (const other of [location, { type: "share", payload: { url: "https://e.example" } }]) {
      yield* invalid(send(picture, other))
      yield* succeeds(send(other, keyboard))
    }
  })
)

assumes(
  "C",
  "Request-side message body (NewMessageBody)",
  "A button of an unknown type and an empty share return 400",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const send = (attachment: unknown) => POST(`/messages?chat_id=${group.chat_id}`, { attachments: [attachment] })
    const buttons = [[{ type: "calback", text: "Yes", payload: "y" }]]
    const { at } = yield* invalid(send({ type: "inline_keyboard", payload: { buttons } }))
    assert.include(String(at("message")), "calback")
    yield* invalid(send({ type: "share", payload: {} }))
  })
)

assumes(
  "C",
  "Request-side message body (NewMessageBody)",
  "A message or comment cannot be edited to reply to itself",
  Effect.gen(function* () {
    const { comment, message, post } = yield* Scene.make
    const replyTo = (mid: string) => ({ text: "a", link: { type: "reply", mid } })
    yield* invalid(PUT(`/messages?message_id=${midOf(message)}`, replyTo(midOf(message))))
    const path = `/messages/${midOf(post)}/comments?comment_id=${comment.body.mid}`
    yield* invalid(PUT(path, replyTo(comment.body.mid)))
  })
)

assumes(
  "A",
  "Request-side message body (NewMessageBody)",
  "Audio, file, contact and sticker cannot be combined with other attachments except a keyboard",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    const send = (...attachments: ReadonlyArray<unknown>) => POST(`/messages?chat_id=${group.chat_id}`, { attachments })
    const sole = [
      { type: "sticker", payload: { code: "abc" } },
      { type: "contact", payload: { name: "Victor", contact_id: visitor.user_id } }
    ]
    for (const attachment of sole) {
      yield* succeeds(send(attachment))
      yield* succeeds(send(attachment, keyboard))
      yield* invalid(send(attachment, picture))
    }
    for (const type of ["audio", "file"]) yield* invalid(send({ type, payload: { token: "t" } }, picture))
  })
)

assumes(
  "A",
  "Request-side message body (NewMessageBody)",
  "Sticker, contact, share and location are returned in the format of a response; a location has no payload",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    const sent = (attachment: unknown) =>
      Effect.map(
        succeeds(POST(`/messages?chat_id=${group.chat_id}`, { attachments: [attachment] })),
        ({ at }) => at("message.body.attachments.0") as { readonly payload: object }
      )
    const sticker = yield* sent({ type: "sticker", payload: { code: "abc" } })
    assert.hasAllKeys(sticker, ["type", "payload", "width", "height"])
    assert.hasAllKeys(sticker.payload, ["url", "code"])
    const url = "https://e.example/stickers/wave"
    assert.deepInclude((yield* sent({ type: "sticker", payload: { url } })).payload, { url })
    for (const payload of [{}, { code: "abc", url }]) {
      yield* invalid(POST(`/messages?chat_id=${group.chat_id}`, { attachments: [{ type: "sticker", payload }] }))
    }
    const contact = yield* sent({
      type: "contact",
      payload: { name: "V", contact_id: visitor.user_id, vcf_phone: "+1" }
    })
    assert.property(contact.payload, "vcf_info")
    const share = yield* sent({ type: "share", payload: { url: "https://e.example" } })
    assert.deepStrictEqual(share.payload, { url: "https://e.example" })
    const place = { type: "location", latitude: 55.5, longitude: 37.25 }
    assert.deepStrictEqual<unknown>(yield* sent(place), place)
  })
)

assumes(
  "B",
  "Request-side message body (NewMessageBody)",
  "An unknown token, or a token of another type, returns 400 proto.payload",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const token = yield* Scene.uploadImage
    for (const [type, given] of [
      ["image", "none"],
      ["video", token],
      ["audio", token],
      ["file", token]
    ]) {
      const attachments = [{ type, payload: { token: given } }]
      yield* invalid(POST(`/messages?chat_id=${group.chat_id}`, { attachments }))
    }
  })
)

says(
  "Request-side message body (NewMessageBody)",
  "A link button has type link, text and url, and is returned unchanged",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const buttons = [[{ type: "link", text: "Site", url: "https://e.example" }]]
    const attachments = [{ type: "inline_keyboard", payload: { buttons } }]
    const { at } = yield* succeeds(POST(`/messages?chat_id=${group.chat_id}`, { text: "a", attachments }))
    assert.deepStrictEqual(at("message.body.attachments.0.payload.buttons"), buttons)
    const incomplete = [{ type: "inline_keyboard", payload: { buttons: [[{ type: "link", text: "Site" }]] } }]
    yield* invalid(POST(`/messages?chat_id=${group.chat_id}`, { text: "a", attachments: incomplete }))
  })
)

const sendKeyboard = (buttons: unknown) =>
  Effect.gen(function* () {
    const { chat_id } = yield* Emulator.chat()
    const attachments = [{ type: "inline_keyboard", payload: { buttons } }]
    return yield* POST(`/messages?chat_id=${chat_id}`, { text: "a", attachments })
  })

const button = { type: "message", text: "a" }
const wide = { type: "link", text: "a", url: "https://e.example" }
const times = <A>(count: number, value: A) => Array.from({ length: count }, () => value)

assumes(
  "A",
  "Request-side message body (NewMessageBody)",
  "A keyboard has up to 30 rows and 210 buttons, 7 in a row, or 3 in a row with a link, app, contact or location button",
  Effect.gen(function* () {
    for (const rows of [times(30, times(7, button)), [times(3, wide)], [[wide, button, button]]]) {
      yield* succeeds(sendKeyboard(rows))
    }
    for (const type of ["request_contact", "request_geo_location"]) {
      yield* invalid(sendKeyboard([times(4, { type, text: "a" })]))
    }
    const app = { type: "open_app", text: "a", web_app: "app" }
    const wrong = [times(31, [button]), [times(8, button)], [times(4, wide)], [[wide, ...times(3, button)]]]
    for (const rows of [...wrong, [times(4, app)], [[]], "buttons"]) yield* invalid(sendKeyboard(rows))
  })
)

assumes(
  "A",
  "Request-side message body (NewMessageBody)",
  "Buttons are callback, link, request_contact, request_geo_location, message, open_app and clipboard, and are returned unchanged",
  Effect.gen(function* () {
    const rows = [
      [{ type: "callback", text: "a", payload: "p" }],
      [wide],
      [{ type: "request_contact", text: "a" }],
      [{ type: "request_geo_location", text: "a", quick: true }],
      [button],
      [{ type: "open_app", text: "a", web_app: "app", payload: "p" }],
      [{ type: "clipboard", text: "a", payload: "p" }]
    ]
    const { at } = yield* succeeds(sendKeyboard(rows))
    assert.deepStrictEqual(at("message.body.attachments.0.payload.buttons"), rows)
  })
)

assumes(
  "B",
  "Request-side message body (NewMessageBody)",
  "The web_app of a button is required, has at most 1024 characters, and an address starts with https://",
  Effect.gen(function* () {
    const app = (web_app?: string) => sendKeyboard([[{ type: "open_app", text: "a", ...(web_app && { web_app }) }]])
    const address = `https://${"a".repeat(1016)}`
    for (const web_app of ["my_bot", address]) yield* succeeds(app(web_app))
    for (const web_app of [undefined, `${address}a`, "http://app.example"]) yield* invalid(app(web_app))
  })
)

assumes(
  "A",
  "Request-side message body (NewMessageBody)",
  "The text of a button has 1 to 128 characters, the payload of callback and clipboard up to 1024, of open_app up to 512, and a url up to 2048",
  Effect.gen(function* () {
    const long = (length: number) => "a".repeat(length)
    const limits = [
      (over: number) => ({ type: "message", text: long(128 + over) }),
      (over: number) => ({ type: "callback", text: "a", payload: long(1024 + over) }),
      (over: number) => ({ type: "clipboard", text: "a", payload: long(1024 + over) }),
      (over: number) => ({ type: "open_app", text: "a", web_app: "app", payload: long(512 + over) }),
      (over: number) => ({ type: "link", text: "a", url: `https://e.example/${long(2030 + over)}` })
    ]
    for (const make of limits) {
      yield* succeeds(sendKeyboard([[make(0)]]))
      yield* invalid(sendKeyboard([[make(1)]]))
    }
    yield* invalid(sendKeyboard([[{ type: "message", text: "" }]]))
  })
)

const listed = (query: string) =>
  Effect.map(succeeds(GET(`/messages?${query}`)), (answer) => valuesAt(answer, "messages", "body.text").join(""))

const history = Effect.gen(function* () {
  const scene = yield* Scene.make
  for (const text of ["a", "b", "c"]) {
    yield* TestClock.adjust("1 second")
    yield* scene.visitor.send(scene.group, text)
  }
  return scene
})

says("GET /messages", "One of chat_id and message_ids must be given", Effect.asVoid(invalid(GET("/messages"))))

says(
  "GET /messages",
  "The messages of a chat are returned in reverse order, latest first",
  Effect.gen(function* () {
    const { group } = yield* history
    assert.strictEqual(yield* listed(`chat_id=${group.chat_id}`), "cbaHello")
  })
)

says(
  "GET /messages",
  "Returns the posts of a channel",
  Effect.gen(function* () {
    const { channel } = yield* Scene.make
    assert.strictEqual(yield* listed(`chat_id=${channel.chat_id}`), "News")
  })
)

says(
  "GET /messages",
  "chat_id requires the bot to be an administrator of the group chat or channel",
  Effect.gen(function* () {
    const { channel, group, message, owner } = yield* Scene.make
    for (const chat of [group, channel]) {
      yield* owner.setBotAdmin(chat, undefined)
      yield* denied(GET(`/messages?chat_id=${chat.chat_id}`))
    }
    assert.strictEqual(yield* listed(`message_ids=${midOf(message)}`), "Hello")
  })
)

assumes(
  "C",
  "GET /messages",
  "A dialog, which has no administrators, can be read",
  Effect.gen(function* () {
    const { dialog } = yield* Scene.make
    assert.strictEqual(yield* listed(`chat_id=${dialog.chat_id}`), "Shall we?")
  })
)

says(
  "GET /messages",
  "Returns 403 if the user suspended the bot or the bot has no access to the chat",
  Effect.gen(function* () {
    const { dialog, group, owner, visitor } = yield* Scene.make
    yield* visitor.stop
    yield* owner.removeBot(group)
    const other = yield* Emulator.chat({ bot: false })
    for (const { chat_id } of [dialog, group, other]) yield* denied(GET(`/messages?chat_id=${chat_id}`))
  })
)

says(
  "GET /messages",
  "message_ids returns these messages",
  Effect.gen(function* () {
    const { asked, channel, group, message, post } = yield* Scene.make
    const mids = [post, asked, message].map(midOf).join(",")
    assert.strictEqual(yield* listed(`message_ids=${mids}`), "NewsShall we?Hello")
    const posts = yield* Effect.forEach(Array.from({ length: 101 }), (_, index) =>
      Messages.send({ chat_id: channel.chat_id, text: String(index) })
    )
    const { at } = yield* succeeds(GET(`/messages?message_ids=${posts.map(midOf).join(",")}`))
    assert.lengthOf(at("messages") as Array<unknown>, 101)
    for (const beside of [`chat_id=${group.chat_id}`, "count=1", "count=0", "from=0"]) {
      assert.strictEqual(yield* listed(`message_ids=${mids}&${beside}`), "NewsShall we?Hello", beside)
    }
  })
)

assumes(
  "C",
  "GET /messages",
  "Messages of message_ids that do not exist are omitted",
  Effect.gen(function* () {
    const { message } = yield* Scene.make
    assert.strictEqual(yield* listed(`message_ids=mid.0,${midOf(message)}`), "Hello")
  })
)

says(
  "Errors",
  "GET /messages returns 403 if the user suspended the bot or the bot has no access to the chat",
  Effect.gen(function* () {
    const { asked, dialog, visitor } = yield* Scene.make
    const secret = yield* visitor.send(yield* Emulator.chat({ owner: visitor, bot: false }), "secret")
    yield* denied(GET(`/messages?message_ids=${midOf(secret)}`))
    yield* visitor.stop
    for (const query of [`chat_id=${dialog.chat_id}`, `message_ids=${midOf(asked)}`]) {
      yield* denied(GET(`/messages?${query}`))
    }
  })
)

says(
  "GET /messages",
  "from returns all messages up to this time, to all messages from this time on",
  Effect.gen(function* () {
    const { group } = yield* history
    const path = `chat_id=${group.chat_id}`
    assert.strictEqual(yield* listed(`${path}&from=2000`), "baHello")
    assert.strictEqual(yield* listed(`${path}&to=2000`), "cb")
    assert.strictEqual(yield* listed(`${path}&from=2000&to=1000`), "ba")
    for (const past of ["to=-1", "from=9223372036854775807"]) {
      assert.strictEqual(yield* listed(`${path}&${past}`), "cbaHello", past)
    }
    assert.strictEqual(yield* listed(`${path}&from=-1`), "")
    for (const from of ["yesterday", "1.0", "9223372036854775808"])
      yield* invalid(GET(`/messages?${path}&from=${from}`))
  })
)

assumes(
  "A",
  "GET /messages",
  "before and after are supported too: earlier than, later than",
  Effect.gen(function* () {
    const { group } = yield* history
    const path = `chat_id=${group.chat_id}`
    assert.strictEqual(yield* listed(`${path}&before=2000`), "aHello")
    assert.strictEqual(yield* listed(`${path}&after=2000`), "c")
    assert.strictEqual(yield* listed(`${path}&after=1000&before=3000`), "b")
  })
)

says(
  "GET /messages",
  "count is 1 to 100, by default 50; the latest messages are returned",
  Effect.gen(function* () {
    const { group, visitor } = yield* Scene.make
    yield* Effect.forEach(times(110, "x"), () => visitor.send(group, "x"))
    const path = `chat_id=${group.chat_id}`
    assert.strictEqual((yield* listed(path)).length, 50)
    assert.strictEqual((yield* listed(`${path}&count=100`)).length, 100)
    assert.strictEqual((yield* listed(`${path}&count=1`)).length, 1)
    for (const count of [0, 101, -1, 1.5, "many"]) yield* invalid(GET(`/messages?${path}&count=${count}`))
  })
)

says(
  "GET /messages/{messageId}",
  "Returns the Message as the body",
  Effect.gen(function* () {
    const { message } = yield* Scene.make
    const { at } = yield* succeeds(GET(`/messages/${midOf(message)}`))
    assert.deepStrictEqual([at("body.mid"), at("body.text")], [midOf(message), "Hello"])
  })
)

says(
  "GET /messages/{messageId}",
  "Returns 404 if the message is not found or the bot has no access",
  Effect.gen(function* () {
    const { group, message, owner, visitor } = yield* Scene.make
    yield* messageNotFound(GET("/messages/mid.0"))
    const secret = yield* visitor.send(yield* Emulator.chat({ owner: visitor, bot: false }), "secret")
    yield* messageNotFound(GET(`/messages/${midOf(secret)}`))
    yield* owner.removeBot(group)
    yield* messageNotFound(GET(`/messages/${midOf(message)}`))
  })
)

assumes(
  "A",
  "Other operations",
  "PUT /messages edits a message of a dialog for 7 days, and always if it has an inline keyboard; in groups and channels always",
  Effect.gen(function* () {
    const { dialog, group } = yield* Scene.make
    const buttons = [[{ type: "callback", text: "Yes", payload: "yes" }]]
    const keyboard = { attachments: [{ type: "inline_keyboard", payload: { buttons } }] }
    const sent = (chat_id: number, rest: object = {}) =>
      Effect.map(succeeds(POST(`/messages?chat_id=${chat_id}`, { text: "a", ...rest })), ({ at }) =>
        at("message.body.mid")
      )
    const plain = yield* sent(dialog.chat_id)
    const always = [yield* sent(dialog.chat_id, keyboard), yield* sent(group.chat_id)]
    const edit = (mid: unknown, text: string) => PUT(`/messages?message_id=${mid}`, { text })
    yield* TestClock.adjust("7 days")
    yield* hasSuccess(edit(plain, "b"), true)
    yield* TestClock.adjust(1)
    yield* hasSuccess(edit(plain, "c"), false)
    assert.strictEqual((yield* GET(`/messages/${plain}`)).at("body.text"), "b")
    for (const mid of always) yield* hasSuccess(edit(mid, "b"), true)
  })
)

assumes(
  "A",
  "Other operations",
  "DELETE /messages removes only messages of the bot in a dialog, and any with the right delete elsewhere",
  Effect.gen(function* () {
    const { dialog, group, owner, visitor } = yield* Scene.make
    const remove = (message: Message.Message) => DELETE(`/messages?message_id=${midOf(message)}`)
    yield* failsWith(remove(yield* visitor.send(dialog, "mine")), 403, "access.denied")
    yield* owner.setBotAdmin(group, ["delete"])
    yield* hasSuccess(remove(yield* visitor.send(group, "mine")), true)
    yield* owner.setBotAdmin(group, ["write"])
    yield* failsWith(remove(yield* visitor.send(group, "mine")), 403, "access.denied")
  })
)

assumes(
  "A",
  "Other operations",
  "PUT /messages changes a message by message_id and returns {success}",
  Effect.gen(function* () {
    const { message } = yield* Scene.make
    yield* hasSuccess(PUT(`/messages?message_id=${midOf(message)}`, { text: "**b**", format: "markdown" }), true)
    const { at } = yield* GET(`/messages/${midOf(message)}`)
    assert.deepStrictEqual([at("body.text"), at("body.markup.0.type")], ["b", "strong"])
    yield* messageNotFound(PUT("/messages?message_id=mid.0", { text: "a" }))
    yield* invalid(PUT("/messages", { text: "a" }))
  })
)

assumes(
  "A",
  "Other operations",
  "DELETE /messages removes a message by message_id and returns {success}",
  Effect.gen(function* () {
    const { message } = yield* Scene.make
    const path = `/messages?message_id=${midOf(message)}`
    yield* hasSuccess(DELETE(path), true)
    yield* messageNotFound(DELETE(path))
    yield* messageNotFound(GET(`/messages/${midOf(message)}`))
  })
)

assumes(
  "A",
  "Other operations",
  "Removing a message of another user requires the right delete, and editing it in a channel requires edit; otherwise 403 access.denied",
  Effect.gen(function* () {
    const { channel, group, owner, visitor } = yield* Scene.make
    const spam = midOf(yield* visitor.send(group, "spam"))
    const news = midOf(yield* owner.send(channel, "news"))
    const edit = (mid: string) => PUT(`/messages?message_id=${mid}`, { text: "edited" })
    const remove = (mid: string) => DELETE(`/messages?message_id=${mid}`)
    for (const chat of [group, channel]) yield* owner.setBotAdmin(chat, ["write"])
    for (const call of [edit(spam), edit(news), remove(spam), remove(news)])
      yield* failsWith(call, 403, "access.denied")
    for (const chat of [group, channel]) yield* owner.setBotAdmin(chat, ["edit", "delete"])
    yield* failsWith(edit(spam), 403, "access.denied")
    yield* hasSuccess(edit(news), true)
    for (const mid of [spam, news]) yield* hasSuccess(remove(mid), true)
  })
)

says(
  "POST /answers",
  "Changes the message of the pressed button and returns success",
  Effect.gen(function* () {
    const { asked, visitor } = yield* Scene.make
    const callback_id = yield* visitor.press(asked, "Yes")
    yield* hasSuccess(POST(`/answers?callback_id=${callback_id}`, { message: { text: "Yes!", attachments: [] } }), true)
    const { at } = yield* GET(`/messages/${midOf(asked)}`)
    assert.deepStrictEqual([at("body.text"), at("body.attachments") ?? null], ["Yes!", null])
  })
)

says(
  "POST /answers",
  "callback_id is required and has at least one character that is not white space",
  Effect.gen(function* () {
    for (const query of ["", "?callback_id=", "?callback_id=%20%20"]) {
      yield* invalid(POST(`/answers${query}`, { notification: "a" }))
    }
  })
)

assumes(
  "A",
  "POST /answers",
  "notification is shown once to the user who pressed the button; message can be null if it is set",
  Effect.gen(function* () {
    const { asked, visitor } = yield* Scene.make
    const callback_id = yield* visitor.press(asked, "Yes")
    const body = { message: null, notification: "Thank you" }
    yield* hasSuccess(POST(`/answers?callback_id=${callback_id}&disable_link_preview=true`, body), true)
    assert.strictEqual(yield* visitor.notification, "Thank you")
    assert.strictEqual((yield* GET(`/messages/${midOf(asked)}`)).at("body.text"), "Shall we?")
  })
)

assumes(
  "B",
  "POST /answers",
  "An answer without message and notification returns 400, and one to an unknown callback returns 404",
  Effect.gen(function* () {
    const { asked, visitor } = yield* Scene.make
    const callback_id = yield* visitor.press(asked, "Yes")
    for (const body of [{}, { message: null, notification: null }]) {
      yield* invalid(POST(`/answers?callback_id=${callback_id}`, body))
    }
    yield* failsWith(POST("/answers?callback_id=none", { notification: "a" }), 404, "not.found")
  })
)

assumes(
  "C",
  "POST /answers",
  "An answer to a callback that was answered, or whose message was removed, returns 405",
  Effect.gen(function* () {
    const { asked, visitor } = yield* Scene.make
    const first = yield* visitor.press(asked, "Yes")
    const second = yield* visitor.press(asked, "Yes")
    yield* hasSuccess(POST(`/answers?callback_id=${first}`, { notification: "a" }), true)
    yield* failsWith(POST(`/answers?callback_id=${first}`, { notification: "b" }), 405, "method.not.allowed")
    yield* hasSuccess(DELETE(`/messages?message_id=${midOf(asked)}`), true)
    yield* failsWith(POST(`/answers?callback_id=${second}`, { message: { text: "a" } }), 405, "method.not.allowed")
  })
)

says(
  "POST /answers",
  "The message is a NewMessageBody with its limits",
  Effect.gen(function* () {
    const { asked, visitor } = yield* Scene.make
    const path = `/answers?callback_id=${yield* visitor.press(asked, "Yes")}`
    for (const message of [{ text: "a".repeat(4001) }, { text: 5 }, { text: "", attachments: [] }, "text"]) {
      yield* invalid(POST(path, { message }))
    }
    const more = [Keyboard.make([Keyboard.callback("More", "more")])]
    yield* hasSuccess(POST(path, { message: { text: "*b*", format: "markdown", attachments: more } }), true)
    const { at } = yield* GET(`/messages/${midOf(asked)}`)
    assert.deepStrictEqual([at("body.text"), at("body.markup.0.type")], ["b", "emphasized"])
  })
)
