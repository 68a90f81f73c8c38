import { Json } from "@colloquy/core"
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

const scene = Effect.map(Scene.make, (scene) => ({ ...scene, path: `/messages/${midOf(scene.post)}/comments` }))

says(
  "Comment (comment on a channel post)",
  "A comment has sender, recipient, timestamp and body with mid, seq and text, and no attachments",
  Effect.gen(function* () {
    yield* TestClock.setTime(5000)
    const { channel, path, post } = yield* scene
    const attachments = [{ type: "image", payload: { url: "https://p.example/1.png" } }]
    const { at } = yield* succeeds(POST(path, { text: "Nice", attachments }))
    assert.hasAllKeys(at("body"), ["mid", "seq", "text"])
    assert.deepStrictEqual([at("timestamp"), at("body.text"), at("sender.is_bot")], [5000, "Nice", true])
    assert.deepStrictEqual(at("recipient"), { chat_id: channel.chat_id, chat_type: "channel", post_id: midOf(post) })
  })
)

says(
  "Comment (comment on a channel post)",
  "The sender is null if the comment is published on behalf of the channel",
  Effect.gen(function* () {
    const { owner, path, post } = yield* scene
    const { body } = yield* owner.comment(post, "We", { onBehalf: true })
    assert.isNull((yield* succeeds(GET(`${path}/${body.mid}`))).at("sender"))
  })
)

says(
  "Comment (comment on a channel post)",
  "link contains the comment that is replied to, with the type reply, its sender and its body",
  Effect.gen(function* () {
    const { path, post, visitor } = yield* scene
    const first = yield* visitor.comment(post, "I like it")
    const { at } = yield* succeeds(POST(path, { text: "Thanks", link: { type: "reply", mid: first.body.mid } }))
    assert.deepStrictEqual(
      [at("link.type"), at("link.sender.user_id"), at("link.message.mid"), at("link.message.text")],
      ["reply", visitor.user_id, first.body.mid, "I like it"]
    )
  })
)

says(
  "Comment (comment on a channel post)",
  "A comment cannot be forwarded: link.type is reply only",
  Effect.gen(function* () {
    const { comment, path, group } = yield* scene
    for (const mid of [{}, { mid: comment.body.mid }]) {
      const { at } = yield* invalid(POST(path, { text: "a", link: { type: "forward", ...mid } }))
      assert.strictEqual(at("message"), 'link: must be an object whose type is "reply" or null')
    }
    const link = { type: "forward", mid: comment.body.mid }
    yield* invalid(POST(`/messages?chat_id=${group.chat_id}`, { link }))
  })
)

says(
  "Message",
  "Comments do not support hyperlinks or user mentions: only their text is kept",
  Effect.gen(function* () {
    const { path, visitor } = yield* scene
    const texts = {
      markdown: "**See** [this](https://e.example)",
      html: '<b>See</b> <a href="https://e.example">this</a>'
    }
    for (const [format, text] of Object.entries(texts)) {
      const { at } = yield* succeeds(POST(path, { text, format }))
      assert.deepStrictEqual(
        [at("body.text"), at("body.markup")],
        ["See this", [{ type: "strong", from: 0, length: 3 }]]
      )
    }
    const mention = `<a href="https://u.example">${visitor.user.first_name}</a>`
    const { at } = yield* succeeds(POST(path, { text: mention, format: "html" }))
    assert.isTrue(at("body.markup") == null)
  })
)

says(
  "GET /messages/{messageId}/comments",
  "The bot must be an administrator of the channel with the right read_all_messages",
  Effect.gen(function* () {
    const { channel, owner, path } = yield* scene
    yield* owner.setBotAdmin(channel, undefined)
    yield* denied(GET(path))
    yield* owner.setBotAdmin(channel, ["write", "edit"])
    yield* denied(GET(path))
    yield* owner.setBotAdmin(channel, ["read_all_messages"])
    yield* succeeds(GET(path))
  })
)

assumes(
  "C",
  "GET /messages/{messageId}/comments",
  "Lists the comments of posts in channels that the bot can read",
  Effect.gen(function* () {
    const { channel, message, owner, path } = yield* scene
    yield* messageNotFound(GET("/messages/mid.0/comments"))
    yield* messageNotFound(GET(`/messages/${midOf(message)}/comments`))
    yield* owner.removeBot(channel)
    yield* messageNotFound(GET(path))
  })
)

const threeComments = Effect.gen(function* () {
  const made = yield* scene
  for (const text of ["a", "b", "c"]) {
    yield* TestClock.adjust("1 second")
    yield* made.visitor.comment(made.post, text)
  }
  const texts = (query: string) =>
    Effect.map(succeeds(GET(`${made.path}?${query}`)), (answer) => valuesAt(answer, "messages", "body.text").join(","))
  return { ...made, texts }
})

says(
  "GET /messages/{messageId}/comments",
  "With comment_ids, only these comments are returned and pagination is ignored",
  Effect.gen(function* () {
    const { comment, path, texts } = yield* threeComments
    const mids = valuesAt(yield* GET(path), "messages", "body.mid")
    assert.strictEqual(yield* texts(`comment_ids=${mids[1]},${comment.body.mid},mid.0&count=1&before=1`), "b,First")
    for (const wrong of ["count=0", "count=101", "before=-1"]) {
      assert.strictEqual(yield* texts(`comment_ids=${comment.body.mid}&${wrong}`), "First", wrong)
    }
  })
)

says(
  "GET /messages/{messageId}/comments",
  "after and before are Unix milliseconds, 0 or more",
  Effect.gen(function* () {
    const { path } = yield* scene
    for (const query of ["after=-1", "before=-1", "after=x", "before=1.5"]) yield* invalid(GET(`${path}?${query}`))
  })
)

assumes(
  "A",
  "GET /messages/{messageId}/comments",
  "after means later than, before means earlier than; the newest comments are first",
  Effect.gen(function* () {
    const { texts } = yield* threeComments
    assert.strictEqual(yield* texts(""), "c,b,a,First")
    assert.strictEqual(yield* texts("after=1000"), "c,b")
    assert.strictEqual(yield* texts("before=2000"), "a,First")
    assert.strictEqual(yield* texts("after=1000&before=3000"), "b")
  })
)

assumes(
  "A",
  "GET /messages/{messageId}/comments",
  "The response is {messages, marker?}; without a marker, the next page is `before` the last timestamp",
  Effect.gen(function* () {
    const { path, texts } = yield* threeComments
    const first = yield* GET(`${path}?count=2`)
    assert.deepStrictEqual(valuesAt(first, "messages", "timestamp"), [3000, 2000])
    assert.strictEqual(yield* texts("count=2&before=2000"), "a,First")
    assert.isTrue((yield* GET(path)).at("marker") == null)
  })
)

assumes(
  "C",
  "GET /messages/{messageId}/comments",
  "The marker requests the next page, also between comments of the same millisecond",
  Effect.gen(function* () {
    const { path, post, visitor } = yield* scene
    for (const text of ["a", "b", "c"]) yield* visitor.comment(post, text)
    const first = yield* GET(`${path}?count=2`)
    const second = yield* GET(`${path}?count=2&marker=${first.at("marker")}`)
    const texts = [first, second].flatMap((page) => valuesAt(page, "messages", "body.text"))
    assert.deepStrictEqual(texts, ["c", "b", "a", "First"])
    assert.isTrue(second.at("marker") == null)
  })
)

says(
  "GET /messages/{messageId}/comments",
  "count is 1 to 100, by default 50",
  Effect.gen(function* () {
    const { path, post, visitor } = yield* scene
    yield* Effect.forEach(Array.from({ length: 105 }), () => visitor.comment(post, "x"))
    const count = (query: string) =>
      Effect.map(succeeds(GET(path + query)), (answer) => valuesAt(answer, "messages", "").length)
    assert.deepStrictEqual([yield* count(""), yield* count("?count=100"), yield* count("?count=1")], [50, 100, 1])
    for (const wrong of [0, 101, "x"]) yield* invalid(GET(`${path}?count=${wrong}`))
  })
)

assumes(
  "A",
  "Other operations",
  "GET /messages/{messageId}/comments/{commentId} returns the Comment, and requires the same rights as the list",
  Effect.gen(function* () {
    const { channel, comment, owner, path } = yield* scene
    const { at } = yield* succeeds(GET(`${path}/${comment.body.mid}`))
    assert.deepStrictEqual([at("body.mid"), at("body.text")], [comment.body.mid, "First"])
    yield* messageNotFound(GET(`${path}/mid.0`))
    yield* owner.setBotAdmin(channel, ["write"])
    yield* denied(GET(`${path}/${comment.body.mid}`))
  })
)

says(
  "POST /messages/{messageId}/comments",
  "Sends a comment to a channel post and returns the Comment",
  Effect.gen(function* () {
    const { path, post } = yield* scene
    const { at } = yield* succeeds(POST(path, { text: "Second" }))
    assert.strictEqual(at("body.text"), "Second")
    assert.strictEqual((yield* Emulator.comments(post)).at(-1)?.body.mid, at("body.mid"))
  })
)

assumes(
  "A",
  "POST /messages/{messageId}/comments",
  "The response also contains the Comment in `message`",
  Effect.gen(function* () {
    const { path } = yield* scene
    const { text } = yield* succeeds(POST(path, { text: "Second" }))
    const { message, ...comment } = Json.parse(text) as { readonly message: object }
    assert.deepStrictEqual(message, comment)
    assert.hasAllKeys(comment, ["sender", "recipient", "timestamp", "body"])
  })
)

says(
  "POST /messages/{messageId}/comments",
  "Comments must be enabled in the channel",
  Effect.gen(function* () {
    const { channel, path } = yield* scene
    yield* Emulator.allowComments(channel, false)
    yield* denied(POST(path, { text: "a" }))
    yield* succeeds(GET(path))
    yield* Emulator.allowComments(channel, true)
    yield* succeeds(POST(path, { text: "a" }))
  })
)

says(
  "POST /messages/{messageId}/comments",
  "The bot must be an administrator of the channel with the rights read_all_messages and write",
  Effect.gen(function* () {
    const { channel, owner, path } = yield* scene
    for (const rights of [undefined, ["read_all_messages"], ["write"], []] as const) {
      yield* owner.setBotAdmin(channel, rights)
      yield* denied(POST(path, { text: "a" }))
    }
    yield* owner.setBotAdmin(channel, ["read_all_messages", "write"])
    yield* succeeds(POST(path, { text: "a" }))
  })
)

says(
  "POST /messages/{messageId}/comments",
  "The text has up to 4000 characters",
  Effect.gen(function* () {
    const { path } = yield* scene
    yield* succeeds(POST(path, { text: "a".repeat(4000) }))
    for (const body of [{ text: "a".repeat(4001) }, {}, { text: null }, { text: "" }]) yield* invalid(POST(path, body))
  })
)

assumes(
  "C",
  "POST /messages/{messageId}/comments",
  "A reply to a comment of another post returns 404",
  Effect.gen(function* () {
    const { channel, message, owner, path, visitor } = yield* scene
    const other = yield* owner.send(channel, "More news")
    const elsewhere = yield* visitor.comment(other, "hi")
    for (const mid of ["mid.0", midOf(message), elsewhere.body.mid]) {
      yield* messageNotFound(POST(path, { text: "a", link: { type: "reply", mid } }))
    }
  })
)

assumes(
  "A",
  "POST /messages/{messageId}/comments",
  "disable_link_preview is a query parameter",
  Effect.gen(function* () {
    const { path } = yield* scene
    yield* succeeds(POST(`${path}?disable_link_preview=true`, { text: "a" }))
    yield* invalid(POST(`${path}?disable_link_preview=maybe`, { text: "a" }))
  })
)

const edit = (path: string, comment_id: string, body: unknown = { text: "edited" }) =>
  PUT(`${path}?comment_id=${comment_id}`, body)

says(
  "PUT /messages/{messageId}/comments",
  "Edits a comment of the bot and returns success",
  Effect.gen(function* () {
    const { comment, path } = yield* scene
    yield* hasSuccess(edit(path, comment.body.mid, { text: "**First**", format: "markdown" }), true)
    const { at } = yield* GET(`${path}/${comment.body.mid}`)
    assert.deepStrictEqual([at("body.text"), at("body.markup.0.type")], ["First", "strong"])
  })
)

says(
  "PUT /messages/{messageId}/comments",
  "The bot must be a member of the channel",
  Effect.gen(function* () {
    const { channel, comment, owner, path } = yield* scene
    yield* owner.removeBot(channel)
    yield* messageNotFound(edit(path, comment.body.mid))
  })
)

says(
  "PUT /messages/{messageId}/comments",
  "With the right edit the bot can edit comments on behalf of the channel; without it only the comments of the bot",
  Effect.gen(function* () {
    const { channel, comment, owner, path, post, visitor } = yield* scene
    const ofChannel = (yield* owner.comment(post, "We", { onBehalf: true })).body.mid
    const foreign = (yield* visitor.comment(post, "I")).body.mid
    yield* hasSuccess(edit(path, ofChannel), true)
    yield* failsWith(edit(path, foreign), 403, "access.denied")
    for (const rights of [["write", "read_all_messages"] as const, undefined]) {
      yield* owner.setBotAdmin(channel, rights)
      for (const mid of [ofChannel, foreign]) yield* failsWith(edit(path, mid), 403, "access.denied")
      yield* hasSuccess(edit(path, comment.body.mid), true)
    }
  })
)

says(
  "PUT /messages/{messageId}/comments",
  "If the channel is archived or comments are disabled, existing comments can still be edited",
  Effect.gen(function* () {
    const { channel, comment, path } = yield* scene
    yield* Emulator.allowComments(channel, false)
    yield* hasSuccess(edit(path, comment.body.mid), true)
    yield* Emulator.closeChat(channel)
    yield* hasSuccess(edit(path, comment.body.mid, { text: "again" }), true)
    yield* denied(POST(path, { text: "new" }))
  })
)

says(
  "PUT /messages/{messageId}/comments",
  "text has up to 4000 characters, link has the type reply only, and format does not support mentions and hyperlinks",
  Effect.gen(function* () {
    const { comment, path, post, visitor } = yield* scene
    const { mid } = comment.body
    yield* invalid(edit(path, mid, { text: "a".repeat(4001) }))
    const other = yield* visitor.comment(post, "Really?")
    yield* hasSuccess(edit(path, mid, { link: { type: "reply", mid: other.body.mid } }), true)
    const linked = yield* GET(`${path}/${mid}`)
    assert.deepStrictEqual([linked.at("body.text"), linked.at("link.message.text")], ["First", "Really?"])
    yield* invalid(edit(path, mid, { text: "a", link: { type: "forward", mid: other.body.mid } }))
    const link = { type: "reply", mid: other.body.mid }
    yield* hasSuccess(edit(path, mid, { text: "[Yes](https://e.example)", format: "markdown", link }), true)
    const { at } = yield* GET(`${path}/${mid}`)
    assert.deepStrictEqual(
      [at("body.text"), at("body.markup") ?? null, at("link.message.mid")],
      ["Yes", null, other.body.mid]
    )
  })
)

assumes(
  "A",
  "PUT /messages/{messageId}/comments",
  "The id of the comment is the query parameter comment_id",
  Effect.gen(function* () {
    const { path } = yield* scene
    yield* invalid(PUT(path, { text: "a" }))
    yield* messageNotFound(edit(path, "mid.0"))
  })
)

assumes(
  "B",
  "PUT /messages/{messageId}/comments",
  "An edit after 26 hours returns 422 comments.timeout_exceeded",
  Effect.gen(function* () {
    const { comment, path } = yield* scene
    yield* TestClock.adjust("26 hours")
    yield* hasSuccess(edit(path, comment.body.mid), true)
    yield* TestClock.adjust("1 millis")
    yield* failsWith(edit(path, comment.body.mid), 422, "comments.timeout_exceeded")
  })
)

assumes(
  "B",
  "Other operations",
  "DELETE /messages/{messageId}/comments removes any comment by comment_id, and requires the rights read_all_messages and delete",
  Effect.gen(function* () {
    const { channel, comment, owner, path, post, visitor } = yield* scene
    const foreign = (yield* visitor.comment(post, "I")).body.mid
    const remove = (mid: string) => DELETE(`${path}?comment_id=${mid}`)
    for (const right of ["read_all_messages", "delete"] as const) {
      yield* owner.setBotAdmin(channel, [right])
      yield* failsWith(remove(foreign), 403, "chat.denied")
      yield* failsWith(remove(comment.body.mid), 403, "chat.denied")
    }
    yield* owner.setBotAdmin(channel, ["read_all_messages", "delete"])
    yield* hasSuccess(remove(comment.body.mid), true)
    yield* messageNotFound(remove(comment.body.mid))
    yield* hasSuccess(remove(foreign), true)
    assert.deepStrictEqual((yield* GET(path)).at("messages"), [])
  })
)
