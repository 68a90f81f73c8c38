import * as Effect from "effect/Effect"
import { hexOf } from "../base/anonymous.ts"
import { type Observation, type Probe, read, unless } from "./probe.ts"
import { comments } from "./comments.ts"
import { called, isList, isSuccess, keys, midOf, type Observe, refused, sent, timeOf, withMessage } from "./observe.ts"
import { uploads } from "./uploads.ts"

const markupTypes = (body: unknown): ReadonlyArray<unknown> => {
  const markup = read(body, "markup")
  return Array.isArray(markup) ? markup.map((element) => read(element, "type")) : []
}

const chat = ({ subject }: Probe, rest = ""): string => `/chats/${subject.chat_id}${rest}`

const button = { type: "callback", text: "A", payload: "a" }

const keyboard = (rows: number, columns: number) => ({
  type: "inline_keyboard",
  payload: { buttons: Array.from({ length: rows }, () => Array.from({ length: columns }, () => button)) }
})

/** Each type of button that needs nothing but itself. */
const buttons = [
  button,
  { type: "link", text: "A", url: "https://example.com/" },
  { type: "request_contact", text: "A" },
  { type: "request_geo_location", text: "A" },
  { type: "message", text: "A" },
  { type: "clipboard", text: "A", payload: "a" }
]

const location = { type: "location", latitude: 56.9, longitude: 24.1 }

const contact = {
  type: "contact",
  payload: { vcf_info: "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:A person\r\nTEL:+70000000000\r\nEND:VCARD\r\n" }
}

const forward = (mid: string) => ({ link: { type: "forward", mid } })

const me: Readonly<Record<"botInfo" | "userNames" | "commandLimits" | "listSubscriptions", Observe>> = {
  botInfo: called(
    (probe) => probe.call("GET", "/me"),
    "the profile of the bot",
    (status, body) => status === 200 && read(body, "is_bot") === true && typeof read(body, "user_id") === "number"
  ),
  userNames: called(
    (probe) => probe.call("GET", "/me"),
    "a `name` beside `first_name`",
    (_, body) => typeof read(body, "name") === "string"
  ),
  // The call is refused, so the commands of the bot do not change.
  commandLimits: called(
    (probe) =>
      probe.call("PATCH", "/me/commands", {
        body: { commands: Array.from({ length: 33 }, (_, index) => ({ name: `c${index}`, description: "A command" })) }
      }),
    "400 for 33 commands",
    (status) => status === 400
  ),
  listSubscriptions: called(
    (probe) => probe.call("GET", "/subscriptions"),
    "`subscriptions`",
    (status, body) => status === 200 && isList(read(body, "subscriptions"))
  )
}

const texts = {
  messageIds: sent(
    { text: "An id" },
    "`mid.` and 16 digits of the chat and of `seq`",
    (body, { subject }) =>
      new RegExp(`^mid\\.${hexOf(subject.chat_id)}[0-9a-f]{16}$`).test(String(read(body, "mid"))) &&
      String(read(body, "mid")).endsWith(
        BigInt(String(read(body, "seq") ?? 0))
          .toString(16)
          .padStart(16, "0")
      )
  ),
  absentParts: sent(
    { text: "A text alone" },
    "neither `attachments` nor `markup`",
    (body) => !keys(body).includes("attachments") && !keys(body).includes("markup")
  ),
  emptyText: sent({ attachments: [location] }, "an empty `text`", (body) => read(body, "text") === ""),
  markupUnits: sent(
    { text: "😀<b>x</b>", format: "html" },
    "markup from 2",
    (body) => read(body, "markup", 0, "from") === 2 && read(body, "markup", 0, "length") === 1
  ),
  characters: sent({ text: "😀".repeat(4000) }, "a message with 4000 emoji", () => true),
  markupSyntax: sent(
    { text: "**b** _i_ ++u++ ~~s~~ `m`", format: "markdown" },
    "five types of markup",
    (body) => new Set(markupTypes(body)).size === 5 && read(body, "text") === "b i u s m"
  ),
  quotesRecognized: sent(
    { text: "<blockquote>q</blockquote>", format: "html" },
    "a quote",
    (body) => markupTypes(body).includes("quote") && read(body, "text") === "q"
  ),
  unknownHtmlTags: sent(
    { text: "a <foo>b</foo>", format: "html" },
    "the text without the tag",
    (body) => read(body, "text") === "a b"
  ),
  markdownEscapes: sent(
    { text: "\\*x\\*", format: "markdown" },
    "a plain text *x*",
    (body) => read(body, "text") === "*x*" && markupTypes(body).length === 0
  ),
  markupLength: refused({ text: `<b>${"x".repeat(3996)}</b>`, format: "html" }, "400 for 4003 characters with markup"),
  keyboardLimits: refused({ text: "A keyboard", attachments: [keyboard(31, 1)] }, "400 for 31 rows"),
  markdownQuoteEnd: sent(
    { text: "> a\nb", format: "markdown" },
    "a quote of the first line",
    (body) => read(body, "markup", 0, "type") === "quote" && read(body, "markup", 0, "length") === 1
  ),
  markupTypes: sent(
    { text: '<a href="https://example.com/">x</a>', format: "html" },
    "a link with its `url`",
    (body) => read(body, "markup", 0, "type") === "link" && read(body, "markup", 0, "url") === "https://example.com/"
  ),
  expiredTokens: refused(
    { attachments: [{ type: "image", payload: { token: "a-token-that-never-existed" } }] },
    "400 for an unknown token of an attachment"
  ),
  soleAttachments: refused({ attachments: [contact, location] }, "400 for a contact beside a location"),
  sentAttachments: sent(
    { attachments: [contact] },
    "a contact with `vcf_info`",
    (body) =>
      read(body, "attachments", 0, "type") === "contact" &&
      typeof read(body, "attachments", 0, "payload", "vcf_info") === "string"
  ),
  receivedAttachments: sent(
    { attachments: [location, keyboard(1, 1)] },
    "a location with `latitude`, and a keyboard with `buttons`",
    (body) => {
      const attachments = read(body, "attachments")
      const of = (type: string): unknown =>
        Array.isArray(attachments) ? attachments.find((attachment) => read(attachment, "type") === type) : undefined
      return (
        read(of("location"), "latitude") === location.latitude &&
        read(of("inline_keyboard"), "payload", "buttons", 0, 0, "text") === "A"
      )
    }
  ),
  buttonTypes: sent(
    {
      text: "Buttons",
      attachments: [{ type: "inline_keyboard", payload: { buttons: buttons.map((button) => [button]) } }]
    },
    `buttons of the types ${buttons.map(({ type }) => type).join(", ")}`,
    (body) =>
      buttons.every(({ type }, row) => read(body, "attachments", 0, "payload", "buttons", row, 0, "type") === type)
  )
} satisfies Readonly<Record<string, Observe>>

const messages = {
  listedByBoth: withMessage((probe, mid) =>
    Effect.map(
      probe.call("GET", "/messages", { query: { chat_id: probe.subject.chat_id, message_ids: mid } }),
      ({ body, status }) => unless(read(body, "messages", 0, "body", "mid") === mid, "this message", { status, body })
    )
  ),
  listMessages: (probe) =>
    Effect.gen(function* () {
      const first = yield* probe.send({ text: "The first of two messages" })
      const second = yield* probe.send({ text: "The second of two messages" })
      const list = (query: Readonly<Record<string, number>>) =>
        Effect.map(
          probe.call("GET", "/messages", { query: { chat_id: probe.subject.chat_id, count: 10, ...query } }),
          ({ body }) => {
            const messages = read(body, "messages")
            return Array.isArray(messages) ? messages.map((message) => read(message, "body", "mid")) : []
          }
        )
      const later = yield* list({ after: timeOf(first.body) })
      const earlier = yield* list({ before: timeOf(second.body) })
      const [one, two] = [midOf(first.body), midOf(second.body)]
      const isExpected = later.includes(two) && !later.includes(one) && earlier.includes(one) && !earlier.includes(two)
      return unless(isExpected, "the second message after the first, and the first before the second", {
        later,
        earlier
      })
    }),
  editMessage: withMessage((probe, mid) =>
    Effect.map(
      probe.call("PUT", "/messages", { query: { message_id: mid }, body: { text: "Edited" } }),
      ({ body, status }) => unless(isSuccess(status, body), "`success: true`", { status, body })
    )
  ),
  removeMessage: withMessage((probe, mid) =>
    Effect.map(probe.remove(mid), ({ body, status }) =>
      unless(isSuccess(status, body), "`success: true`", { status, body })
    )
  ),
  forwardBody: withMessage((probe, mid) =>
    Effect.map(probe.send(forward(mid)), ({ body, status }) =>
      unless(read(body, "message", "body", "text") === "", "an empty `text`", { status, body })
    )
  ),
  forwardOfForward: withMessage((probe, mid) =>
    Effect.gen(function* () {
      const first = yield* probe.send(forward(mid))
      const { body, status } = yield* probe.send(forward(midOf(first.body)))
      return unless(read(body, "message", "link", "message", "mid") === mid, "a link to the original", { status, body })
    })
  ),
  pin: withMessage((probe, mid) =>
    Effect.map(
      probe.call("PUT", chat(probe, "/pin"), { body: { message_id: mid, ...probe.silently } }),
      ({ body, status }) => unless(isSuccess(status, body), "`success: true`", { status, body })
    )
  ),
  getPin: withMessage((probe, mid) =>
    Effect.gen(function* () {
      const pinned = yield* probe.call("PUT", chat(probe, "/pin"), { body: { message_id: mid, ...probe.silently } })
      if (pinned.status !== 200) return "the message was not pinned"
      const { body, status } = yield* probe.call("GET", chat(probe, "/pin"))
      return unless(read(body, "message", "body", "mid") === mid, "the pinned `message`", { status, body })
    })
  ),
  unpin: called((probe) => probe.call("DELETE", chat(probe, "/pin")), "`success: true`", isSuccess)
} satisfies Readonly<Record<string, Observe>>

const chats = {
  dialogIds: called(
    (probe) => probe.call("GET", chat(probe)),
    "a positive id of a dialog, or a negative one",
    (_, body, { subject }) => (read(body, "type") === "dialog") === subject.chat_id > 0
  ),
  chatStatus: called(
    (probe) => probe.call("GET", chat(probe)),
    "the status `active`",
    (status, body) => status === 200 && read(body, "status") === "active"
  ),
  chatActions: called(
    (probe) => probe.call("POST", chat(probe, "/actions"), { body: { action: "typing_on" } }),
    "`success: true`",
    isSuccess
  ),
  senderActions: called(
    (probe) => probe.call("POST", chat(probe, "/actions"), { body: { action: "singing" } }),
    "400 for an unknown action",
    (status) => status === 400
  ),
  listMembers: called(
    (probe) => probe.call("GET", chat(probe, "/members")),
    "`members`",
    (status, body) => status === 200 && isList(read(body, "members"))
  ),
  membersPage: called(
    (probe) => probe.call("GET", chat(probe, "/members"), { query: { count: 101 } }),
    "400 for 101 members",
    (status) => status === 400
  ),
  getMe: called(
    (probe) => probe.call("GET", chat(probe, "/members/me")),
    "the bot as a member",
    (status, body) => status === 200 && read(body, "is_bot") === true && typeof read(body, "is_admin") === "boolean"
  ),
  listAdmins: called(
    (probe) => probe.call("GET", chat(probe, "/members/admins")),
    "`members`",
    (status, body) => status === 200 && isList(read(body, "members"))
  )
} satisfies Readonly<Record<string, Observe>>

const errors = {
  commonErrorCodes: called(
    (probe) => probe.call("GET", "/me", { token: "no-token" }),
    "401 `verify.token`",
    (status, body) => status === 401 && read(body, "code") === "verify.token"
  ),
  otherErrorCodes: called(
    (probe) => probe.call("GET", "/chats/-999999999999"),
    "404 `chat.not.found`",
    (status, body) => status === 404 && read(body, "code") === "chat.not.found"
  ),
  methodNotAllowed: called(
    (probe) => probe.call("PATCH", "/messages", { body: {} }),
    "405 `method.not.allowed`",
    (status, body) => status === 405 && read(body, "code") === "method.not.allowed"
  ),
  maxRequestSize: called(
    (probe) => probe.send({ text: "x".repeat(4 * 1024 * 1024) }),
    "413 `proto.payload`",
    (status, body) => status === 413 && read(body, "code") === "proto.payload"
  )
} satisfies Readonly<Record<string, Observe>>

const updates = {
  // Without a marker, the call commits no update.
  listUpdates: called(
    (probe) => probe.call("GET", "/updates", { query: { limit: 1, timeout: 0 } }),
    "`updates`",
    (status, body) => status === 200 && isList(read(body, "updates"))
  )
} satisfies Readonly<Record<string, Observe>>

const observationsOf = (
  all: Readonly<Partial<Record<Observation["assumption"], Observe>>>,
  isPossible: Observation["isPossible"] = () => true
): ReadonlyArray<Observation> =>
  (Object.entries(all) as ReadonlyArray<[Observation["assumption"], Observe]>).map(([assumption, observe]) => ({
    assumption,
    observe,
    isPossible
  }))

/** The observations that one bot can make in one chat, in order. */
export const observations: ReadonlyArray<Observation> = [
  ...observationsOf({ ...me, ...texts, ...messages, ...chats, ...uploads, ...errors }),
  ...observationsOf(comments, ({ type }) => type === "channel"),
  ...observationsOf(updates, ({ isSubscribed }) => !isSubscribed)
]
