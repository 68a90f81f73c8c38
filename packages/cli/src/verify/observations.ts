import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { hexOf } from "../base/anonymous.ts"
import { type Observation, type Probe, read, unless } from "./probe.ts"
import { comments } from "./comments.ts"
import {
  expects,
  failsWith,
  lists,
  midOf,
  type Observe,
  refuses,
  returns,
  sent,
  some,
  succeeds,
  withMessage
} from "./observe.ts"
import { uploads } from "./uploads.ts"

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
  botInfo: (probe) =>
    returns(probe.call("GET", "/me"), "the profile of the bot", { is_bot: true, user_id: Predicate.isNumber }),
  userNames: (probe) =>
    expects(probe.call("GET", "/me"), "a `name` beside `first_name`", { body: { name: Predicate.isString } }),
  // The call is refused, so the commands of the bot do not change.
  commandLimits: (probe) =>
    refuses(
      probe.call("PATCH", "/me/commands", {
        body: { commands: Array.from({ length: 33 }, (_, index) => ({ name: `c${index}`, description: "A command" })) }
      }),
      "400 for 33 commands"
    ),
  listSubscriptions: (probe) => lists(probe.call("GET", "/subscriptions"), "subscriptions")
}

const texts = {
  messageIds: (probe) =>
    returns(probe.send({ text: "An id" }), "`mid.` and 16 digits of the chat and of `seq`", (body) => {
      const seq = String(read(body, "message", "body", "seq"))
      return /^\d+$/.test(seq) && midOf(body) === `mid.${hexOf(probe.subject.chat_id)}${hexOf(BigInt(seq))}`
    }),
  absentParts: sent({ text: "A text alone" }, "neither `attachments` nor `markup`", {
    attachments: undefined,
    markup: undefined
  }),
  emptyText: sent({ attachments: [location] }, "an empty `text`", { text: "" }),
  markupUnits: sent({ text: "😀<b>x</b>", format: "html" }, "markup from 2", { markup: [{ from: 2, length: 1 }] }),
  characters: sent({ text: "😀".repeat(4000) }, "a message with 4000 emoji", {}),
  markupSyntax: sent({ text: "**b** _i_ ++u++ ~~s~~ `m`", format: "markdown" }, "five types of markup", {
    text: "b i u s m",
    markup: (markup) => Array.isArray(markup) && new Set(markup.map((element) => read(element, "type"))).size === 5
  }),
  quotesRecognized: sent({ text: "<blockquote>q</blockquote>", format: "html" }, "a quote", {
    text: "q",
    markup: some({ type: "quote" })
  }),
  unknownHtmlTags: sent({ text: "a <foo>b</foo>", format: "html" }, "the text without the tag", { text: "a b" }),
  markdownEscapes: sent({ text: "\\*x\\*", format: "markdown" }, "a plain text *x*", {
    text: "*x*",
    markup: (markup) => !some({})(markup)
  }),
  markupLength: (probe) =>
    refuses(probe.send({ text: `<b>${"x".repeat(3996)}</b>`, format: "html" }), "400 for 4003 characters with markup"),
  keyboardLimits: (probe) =>
    refuses(probe.send({ text: "A keyboard", attachments: [keyboard(31, 1)] }), "400 for 31 rows"),
  markdownQuoteEnd: sent({ text: "> a\nb", format: "markdown" }, "a quote of the first line", {
    markup: [{ type: "quote", length: 1 }]
  }),
  markupTypes: sent({ text: '<a href="https://example.com/">x</a>', format: "html" }, "a link with its `url`", {
    markup: [{ type: "link", url: "https://example.com/" }]
  }),
  expiredTokens: (probe) =>
    refuses(
      probe.send({ attachments: [{ type: "image", payload: { token: "a-token-that-never-existed" } }] }),
      "400 for an unknown token of an attachment"
    ),
  soleAttachments: (probe) =>
    refuses(probe.send({ attachments: [contact, location] }), "400 for a contact beside a location"),
  sentAttachments: sent({ attachments: [contact] }, "a contact with `vcf_info`", {
    attachments: [{ type: "contact", payload: { vcf_info: Predicate.isString } }]
  }),
  receivedAttachments: sent(
    { attachments: [location, keyboard(1, 1)] },
    "a location with `latitude`, and a keyboard with `buttons`",
    {
      attachments: (attachments) =>
        some({ type: "location", latitude: location.latitude })(attachments) &&
        some({ type: "inline_keyboard", payload: { buttons: [[{ text: "A" }]] } })(attachments)
    }
  ),
  buttonTypes: sent(
    {
      text: "Buttons",
      attachments: [{ type: "inline_keyboard", payload: { buttons: buttons.map((button) => [button]) } }]
    },
    `buttons of the types ${buttons.map(({ type }) => type).join(", ")}`,
    { attachments: [{ payload: { buttons: buttons.map(({ type }) => [{ type }]) } }] }
  )
} satisfies Readonly<Record<string, Observe>>

const pin = (probe: Probe, mid: string) =>
  probe.call("PUT", chat(probe, "/pin"), { body: { message_id: mid, ...probe.silently } })

const timeOf = (body: unknown): number => Number(read(body, "message", "timestamp"))

const messages = {
  listedByBoth: withMessage((probe, mid) =>
    expects(
      probe.call("GET", "/messages", { query: { chat_id: probe.subject.chat_id, message_ids: mid } }),
      "this message",
      { body: { messages: [{ body: { mid } }] } }
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
    succeeds(probe.call("PUT", "/messages", { query: { message_id: mid }, body: { text: "Edited" } }))
  ),
  removeMessage: withMessage((probe, mid) => succeeds(probe.remove(mid))),
  forwardBody: withMessage((probe, mid) =>
    expects(probe.send(forward(mid)), "an empty `text`", { body: { message: { body: { text: "" } } } })
  ),
  forwardOfForward: withMessage((probe, mid) =>
    expects(
      Effect.flatMap(probe.send(forward(mid)), ({ body }) => probe.send(forward(midOf(body)))),
      "a link to the original",
      { body: { message: { link: { message: { mid } } } } }
    )
  ),
  pin: withMessage((probe, mid) => succeeds(pin(probe, mid))),
  getPin: withMessage((probe, mid) =>
    Effect.gen(function* () {
      const { status } = yield* pin(probe, mid)
      if (status !== 200) return "the message was not pinned"
      const pinned = probe.call("GET", chat(probe, "/pin"))
      return yield* expects(pinned, "the pinned `message`", { body: { message: { body: { mid } } } })
    })
  ),
  unpin: (probe) => succeeds(probe.call("DELETE", chat(probe, "/pin")))
} satisfies Readonly<Record<string, Observe>>

const chats = {
  dialogIds: (probe) =>
    expects(probe.call("GET", chat(probe)), "a positive id of a dialog, or a negative one", {
      body: { type: (type) => (type === "dialog") === probe.subject.chat_id > 0 }
    }),
  chatStatus: (probe) => returns(probe.call("GET", chat(probe)), "the status `active`", { status: "active" }),
  chatActions: (probe) => succeeds(probe.call("POST", chat(probe, "/actions"), { body: { action: "typing_on" } })),
  senderActions: (probe) =>
    refuses(probe.call("POST", chat(probe, "/actions"), { body: { action: "singing" } }), "400 for an unknown action"),
  listMembers: (probe) => lists(probe.call("GET", chat(probe, "/members")), "members"),
  membersPage: (probe) =>
    refuses(probe.call("GET", chat(probe, "/members"), { query: { count: 101 } }), "400 for 101 members"),
  getMe: (probe) =>
    returns(probe.call("GET", chat(probe, "/members/me")), "the bot as a member", {
      is_bot: true,
      is_admin: Predicate.isBoolean
    }),
  listAdmins: (probe) => lists(probe.call("GET", chat(probe, "/members/admins")), "members")
} satisfies Readonly<Record<string, Observe>>

const errors = {
  commonErrorCodes: (probe) => failsWith(probe.call("GET", "/me", { token: "no-token" }), 401, "verify.token"),
  otherErrorCodes: (probe) => failsWith(probe.call("GET", "/chats/-999999999999"), 404, "chat.not.found"),
  methodNotAllowed: (probe) => failsWith(probe.call("PATCH", "/messages", { body: {} }), 405, "method.not.allowed"),
  maxRequestSize: (probe) => failsWith(probe.send({ text: "x".repeat(4 * 1024 * 1024) }), 413, "proto.payload")
} satisfies Readonly<Record<string, Observe>>

const updates = {
  // Without a marker, the call commits no update.
  listUpdates: (probe) => lists(probe.call("GET", "/updates", { query: { limit: 1, timeout: 0 } }), "updates")
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
  ...observationsOf(comments, ({ chatType }) => chatType === "channel"),
  ...observationsOf(updates, ({ isSubscribed }) => !isSubscribed)
]
