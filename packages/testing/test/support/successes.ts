import { Fixtures } from "@colloquy/testing"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

const page = { members: [Fixtures.member({ is_admin: true, permissions: ["write"], alias: "Editor" })], marker: 20n }

/** A sample of the success value of each endpoint. */
export const successes: Readonly<Record<string, unknown>> = {
  "Answers.send": undefined,
  "Chats.get": Fixtures.chat({ pinned_message: Fixtures.message() }),
  "Chats.edit": Fixtures.chat({ title: "Writing club", icon: { url: "https://media.example/1" } }),
  "Chats.sendAction": undefined,
  "Chats.getPin": Option.some(Fixtures.message()),
  "Chats.pin": undefined,
  "Chats.unpin": undefined,
  "Comments.list": { messages: [Fixtures.comment()], marker: Fixtures.seq },
  "Comments.get": Fixtures.comment(),
  "Comments.send": Fixtures.comment({ text: "Thank you" }),
  "Comments.edit": undefined,
  "Comments.remove": undefined,
  "Me.get": { ...Fixtures.bot(), commands: [{ name: "help", description: null }] },
  "Me.setCommands": { commands: [{ name: "help" }] },
  "Members.list": page,
  "Members.add": undefined,
  "Members.remove": undefined,
  "Members.getMe": Fixtures.member(),
  "Members.leave": undefined,
  "Members.listAdmins": page,
  "Members.setAdmins": undefined,
  "Members.removeAdmin": undefined,
  "Messages.send": Fixtures.message({
    attachments: [
      { type: "image", payload: { photo_id: 9_100_000_000_000_000_001n, token: "t", url: "https://media.example/1" } },
      { type: "location", latitude: 1.5, longitude: -2 },
      { type: "unknown", raw: { type: "hologram", depth: 9_100_000_000_000_000_001n } }
    ],
    markup: [{ type: "strong", from: 0, length: 5 }]
  }),
  "Messages.list": [Fixtures.message(), Fixtures.channelMessage()],
  "Messages.get": Fixtures.channelMessage(),
  "Messages.edit": undefined,
  "Messages.remove": undefined,
  "Subscriptions.list": [{ url: "https://bot.example/updates", time: Fixtures.timestamp }],
  "Subscriptions.subscribe": undefined,
  "Subscriptions.unsubscribe": undefined,
  "Updates.list": {
    updates: [Fixtures.messageCreated(), Fixtures.messageCallback(), Fixtures.botStarted()].map((update) =>
      Result.succeed(update)
    ),
    marker: 9_100_000_000_000_000_001n
  },
  "Uploads.create": { url: "https://upload.example/1", token: "t" },
  "Videos.get": { token: "t", urls: { mp4_720: "https://media.example/v" }, width: 1280, height: 720, duration: 1.5 }
}
