import {
  Comments,
  type Endpoint,
  Keyboard,
  Members,
  type Message,
  Messages,
  Subscriptions,
  type Upload,
  Uploads
} from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as TestClock from "effect/testing/TestClock"

export const midOf = ({ body }: Message.Message): Message.MessageId => body!.mid

export const upload = (address: Upload.UploadAddress, name: string, content: string | Uint8Array<ArrayBuffer>) => {
  const form = new FormData()
  form.append("data", new Blob([content]), name)
  return HttpClientRequest.post(address.url).pipe(
    HttpClientRequest.bodyFormData(form),
    HttpClient.execute,
    Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text })))
  )
}

/** Uploads an image, waits until it is processed, and returns its token. */
export const uploadImage = Effect.gen(function* () {
  const { text } = yield* upload(yield* Uploads.create({ type: "image" }), "a.png", "a picture")
  yield* TestClock.adjust("1 minute")
  const { photos } = JSON.parse(text) as { readonly photos: Readonly<Record<string, { readonly token: string }>> }
  return Object.values(photos)[0].token
})

/** Uploads a video, waits until it is processed, and returns its token. */
export const uploadVideo = Effect.gen(function* () {
  const address = yield* Uploads.create({ type: "video" })
  yield* upload(address, "video.mp4", "a video")
  yield* TestClock.adjust("1 minute")
  return address.token!
})

/** Creates people, a dialog, a group chat and a channel in which the bot has all rights, with some messages. */
export const make = Effect.gen(function* () {
  const owner = yield* Emulator.user("Olga")
  const visitor = yield* Emulator.user("Victor")
  const friend = yield* Emulator.user("Fred")
  const dialog = yield* visitor.start()
  const group = yield* Emulator.chat({ title: "Reading club", owner, members: [visitor], bot: { admin: true } })
  const channel = yield* Emulator.chat({ type: "channel", owner, members: [visitor], bot: { admin: true } })
  const keyboard = Keyboard.make([Keyboard.callback("Yes", "yes"), Keyboard.message("Later")])
  const asked = yield* Messages.send({ user_id: visitor.user_id, text: "Shall we?", attachments: [keyboard] })
  const message = yield* Messages.send({ chat_id: group.chat_id, text: "Hello" })
  const post = yield* Messages.send({ chat_id: channel.chat_id, text: "News" })
  const comment = yield* Comments.send({ message_id: midOf(post), text: "First" })
  return { owner, visitor, friend, dialog, group, channel, asked, message, post, comment }
})

type Scene = Effect.Success<typeof make>

/** Returns a valid request to each endpoint. */
const requests = (
  { asked, channel, comment, dialog, friend, group, message, post, visitor }: Scene,
  callback_id: string,
  video: string
): Readonly<Record<string, unknown>> => ({
  "Answers.send": { callback_id, notification: "Thank you", message: { text: "You said yes", attachments: [] } },
  "Chats.get": { chat_id: group.chat_id },
  "Chats.edit": { chat_id: group.chat_id, title: "Writing club", description: "", pin: midOf(message), notify: false },
  "Chats.sendAction": { chat_id: dialog.chat_id, action: "typing_on" },
  "Chats.getPin": { chat_id: group.chat_id },
  "Chats.pin": { chat_id: group.chat_id, message_id: midOf(message), notify: false },
  "Chats.unpin": { chat_id: group.chat_id },
  "Comments.list": { message_id: midOf(post), comment_ids: [comment.body.mid], after: 0, before: 9e12, count: 10 },
  "Comments.get": { message_id: midOf(post), comment_id: comment.body.mid },
  "Comments.send": {
    message_id: midOf(post),
    text: "**Second**",
    format: "markdown",
    link: { type: "reply", mid: comment.body.mid },
    disable_link_preview: false
  },
  "Comments.edit": { message_id: midOf(post), comment_id: comment.body.mid, text: "First!" },
  "Comments.remove": { message_id: midOf(post), comment_id: comment.body.mid },
  "Me.get": {},
  "Me.setCommands": { commands: [{ name: "help", description: "What this bot can do" }, { name: "stop" }] },
  "Members.list": { chat_id: group.chat_id, user_ids: [visitor.user_id], marker: 0n, count: 100 },
  "Members.add": { chat_id: group.chat_id, user_ids: [friend.user_id] },
  "Members.remove": { chat_id: group.chat_id, user_id: visitor.user_id, block: true },
  "Members.getMe": { chat_id: channel.chat_id },
  "Members.leave": { chat_id: channel.chat_id },
  "Members.listAdmins": { chat_id: group.chat_id },
  "Members.setAdmins": {
    chat_id: group.chat_id,
    admins: [{ user_id: visitor.user_id, permissions: ["write", "read_all_messages"], alias: "Editor" }]
  },
  "Members.removeAdmin": { chat_id: channel.chat_id, user_id: visitor.user_id },
  "Messages.send": {
    chat_id: group.chat_id,
    text: "*Hello* & <world>",
    format: "markdown",
    notify: false,
    link: { type: "reply", mid: midOf(message) },
    disable_link_preview: true,
    attachments: [Keyboard.make([Keyboard.callback("Yes", "yes")])]
  },
  "Messages.list": { chat_id: group.chat_id, from: 9e12, to: 0, count: 10 },
  "Messages.get": { message_id: midOf(message) },
  "Messages.edit": { message_id: midOf(asked), text: "Done", attachments: [] },
  "Messages.remove": { message_id: midOf(message) },
  "Subscriptions.list": {},
  "Subscriptions.subscribe": {
    url: "https://bot.example/updates",
    update_types: ["message_created", "bot_started"],
    secret: "a-long-secret"
  },
  "Subscriptions.unsubscribe": { url: oldWebhook },
  "Updates.list": { limit: 1, timeout: 0, marker: 0n, types: ["bot_started", "message_created"] },
  "Uploads.create": { type: "image" },
  "Videos.get": { token: video }
})

const oldWebhook = "https://bot.example/old?a=b&c=d"

/** Creates a scene, and returns a request to the endpoint that succeeds in it. */
export const requestFor = ({ endpoint }: Endpoint.Any) =>
  Effect.gen(function* () {
    const scene = yield* make
    const { asked, channel, visitor } = scene
    yield* Members.setAdmins({
      chat_id: channel.chat_id,
      admins: [{ user_id: visitor.user_id, permissions: ["write"] }]
    })
    if (endpoint === "Subscriptions.unsubscribe") yield* Subscriptions.subscribe({ url: oldWebhook })
    const callback_id = yield* visitor.press(asked, "Yes")
    const address = yield* Uploads.create({ type: "video" })
    yield* upload(address, "video.mp4", "a video")
    yield* TestClock.adjust("1 minute")
    return requests(scene, callback_id!, address.token!)[endpoint]
  })
