import { Emulator, type EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { observations } from "../../src/verify/observations.ts"
import { verify } from "../../src/verify/verify.ts"

const layer = Layer.fresh(Emulator.layer())

/** Verifies the emulator in a group chat where the bot is an administrator. */
const run = Effect.fnUntraced(function* ({
  admin = true,
  type
}: { readonly admin?: boolean; readonly type?: "channel" } = {}) {
  const { chat_id } = yield* Emulator.chat({ bot: { admin }, ...(type && { type }) })
  const began = yield* Clock.currentTimeMillis
  const fiber = yield* Effect.forkChild(
    Effect.flatMap(verify({ baseUrl: Emulator.baseUrl, token: Redacted.make("emulator-token"), chat_id }), (findings) =>
      Effect.map(Clock.currentTimeMillis, (now) => ({ findings, millis: now - began }))
    ),
    { startImmediately: true }
  )
  // Forms and files are read in real time, and the pauses between the calls are in virtual time.
  const step = Effect.andThen(
    TestClock.adjust("50 millis"),
    Effect.promise(() => new Promise(setImmediate))
  )
  yield* Effect.repeat(step, { while: () => fiber.pollUnsafe() === undefined })
  const { findings, millis } = yield* Fiber.join(fiber)
  return { findings, millis, left: yield* Emulator.messages(chat_id) }
})

// oxlint-disable-next-line typescript/no-explicit-any
type Change = (body: any) => unknown

interface Altered {
  readonly method: string
  /** The end of the path. */
  readonly path: string
  /** A text in the body or in the query of the request. */
  readonly having?: string
  readonly status?: number
  readonly change?: Change
}

const success = { success: true }

const withBody =
  (change: Change): Change =>
  (answer) => ({ ...answer, message: { ...answer.message, body: change(answer.message.body) } })

const without =
  (...keys: ReadonlyArray<string>): Change =>
  (answer) =>
    Object.fromEntries(Object.entries(answer).filter(([key]) => !keys.includes(key)))

const accepted: Pick<Altered, "status" | "change"> = { status: 200, change: () => success }

const failing: Pick<Altered, "status" | "change"> = { status: 200, change: () => ({ success: false }) }

const anyMessage = (having: string): Pick<Altered, "method" | "path" | "having"> => ({
  method: "POST",
  path: "/messages",
  having
})

/** A fact of the platform that is altered, by the assumption that then differs. */
const alterations: Readonly<Record<string, Altered>> = {
  botInfo: { method: "GET", path: "/me", change: (me) => ({ ...me, is_bot: false }) },
  userNames: { method: "GET", path: "/me", change: without("name") },
  commandLimits: { method: "PATCH", path: "/me/commands", ...accepted },
  listSubscriptions: { method: "GET", path: "/subscriptions", change: () => [] },
  messageIds: { ...anyMessage("An id"), change: withBody((body) => ({ ...body, mid: "mid.1" })) },
  absentParts: { ...anyMessage("A text alone"), change: withBody((body) => ({ ...body, attachments: [] })) },
  emptyText: { ...anyMessage('"location"'), change: withBody((body) => ({ ...body, text: null })) },
  markupUnits: {
    ...anyMessage("<b>x</b>"),
    change: withBody((body) => ({ ...body, markup: [{ ...body.markup[0], from: 1 }] }))
  },
  characters: { ...anyMessage("😀😀"), status: 400 },
  markupSyntax: {
    ...anyMessage("++u++"),
    change: withBody((body) => ({ ...body, markup: body.markup.slice(1), text: "b i ++u++ s m" }))
  },
  quotesRecognized: { ...anyMessage("blockquote"), change: withBody((body) => ({ ...body, markup: [] })) },
  unknownHtmlTags: { ...anyMessage("<foo>"), change: withBody((body) => ({ ...body, text: "a <foo>b</foo>" })) },
  markdownEscapes: { ...anyMessage("\\\\*x"), change: withBody((body) => ({ ...body, text: "\\*x\\*" })) },
  markupLength: { ...anyMessage("<b>xxxx"), ...accepted },
  keyboardLimits: { ...anyMessage("A keyboard"), ...accepted },
  expiredTokens: { ...anyMessage("never-existed"), status: 404 },
  listedByBoth: { method: "GET", path: "/messages", having: "message_ids", change: () => ({ messages: [] }) },
  editMessage: { method: "PUT", path: "/messages", ...failing },
  removeMessage: { method: "DELETE", path: "/messages", status: 204 },
  forwardBody: { ...anyMessage('"forward"'), change: withBody((body) => ({ ...body, text: null })) },
  pin: { method: "PUT", path: "/pin", ...failing },
  getPin: { method: "GET", path: "/pin", change: () => ({ message: null }) },
  unpin: { method: "DELETE", path: "/pin", ...failing },
  dialogIds: { method: "GET", path: "CHAT", change: (chat) => ({ ...chat, type: "dialog" }) },
  chatActions: { method: "POST", path: "/actions", having: "typing_on", ...failing },
  senderActions: { method: "POST", path: "/actions", having: "singing", ...accepted },
  listMembers: { method: "GET", path: "/members", change: () => [] },
  membersPage: { method: "GET", path: "/members", having: "101", status: 200 },
  getMe: { method: "GET", path: "/members/me", change: without("is_admin") },
  listAdmins: { method: "GET", path: "/members/admins", change: () => [] },
  commonErrorCodes: { method: "GET", path: "/me", status: 403, having: "no-token" },
  otherErrorCodes: {
    method: "GET",
    path: "/chats/-999999999999",
    change: (error) => ({ ...error, code: "not.found" })
  },
  methodNotAllowed: { method: "PATCH", path: "/messages", status: 404 },
  maxRequestSize: { ...anyMessage("xxxxxxxx"), status: 400 },
  markdownQuoteEnd: {
    ...anyMessage("> a"),
    change: withBody((body) => ({ ...body, markup: [{ ...body.markup[0], length: 3 }] }))
  },
  markupTypes: {
    ...anyMessage("<a href"),
    change: withBody((body) => ({ ...body, markup: [{ ...body.markup[0], url: undefined }] }))
  },
  soleAttachments: {
    ...anyMessage(
      '"contact","payload":{"vcf_info":"BEGIN:VCARD\\r\\nVERSION:3.0\\r\\nFN:A person\\r\\nTEL:+70000000000\\r\\nEND:VCARD\\r\\n"}},'
    ),
    ...accepted
  },
  sentAttachments: {
    ...anyMessage('"contact"'),
    change: (answer) =>
      answer.message === undefined ? answer : withBody((body) => ({ ...body, attachments: [] }))(answer)
  },
  receivedAttachments: {
    ...anyMessage('"longitude":24.1},{'),
    change: withBody((body) => ({ ...body, attachments: body.attachments.slice(1) }))
  },
  buttonTypes: {
    ...anyMessage("request_geo_location"),
    change: withBody((body) => ({
      ...body,
      attachments: [{ ...body.attachments[0], payload: { buttons: body.attachments[0].payload.buttons.slice(0, 5) } }]
    }))
  },
  listMessages: { method: "GET", path: "/messages", having: "after", change: () => ({ messages: [] }) },
  chatStatus: { method: "GET", path: "CHAT", change: (chat) => ({ ...chat, status: "closed" }) },
  mediaUploadResponse: { method: "POST", path: "UPLOAD", having: "IHDR", change: () => ({ token: "a" }) },
  unrecognizedImages: { method: "POST", path: "UPLOAD", having: "No image", status: 400 },
  fileUploadResponse: { method: "POST", path: "UPLOAD", having: "A file", change: without("fileId") },
  forbiddenExtension: { method: "POST", path: "UPLOAD", having: "a.exe", status: 400 },
  partResponse: { method: "POST", path: "UPLOAD", having: "bytes 0-3/8", change: () => ({ received: 4 }) },
  uploadStatus: { method: "GET", path: "UPLOAD", status: 204 },
  misplacedPart: { method: "POST", path: "UPLOAD", having: "bytes 4-7/8", status: 200 },
  listUpdates: { method: "GET", path: "/updates", change: () => [] }
}

const noInteger: Altered = { ...anyMessage("An id"), change: withBody((body) => ({ ...body, seq: 1.5 })) }

/** Facts about comments, which only a channel has. */
const alterationsInChannel: Readonly<Record<string, Altered>> = {
  sendComment: { method: "POST", path: "COMMENTS", having: "A comment alone", change: () => ({}) },
  getComment: { method: "GET", path: "COMMENT", status: 404 },
  listComments: { method: "GET", path: "COMMENTS", change: () => [] },
  editComment: { method: "PUT", path: "COMMENTS", status: 400 },
  removeComment: { method: "DELETE", path: "COMMENTS", ...failing }
}

const paths: Readonly<Record<string, RegExp>> = {
  CHAT: /^\/chats\/-\d+$/,
  COMMENTS: /^\/messages\/[^/]+\/comments$/,
  COMMENT: /^\/messages\/[^/]+\/comments\/[^/]+$/,
  UPLOAD: /^\/upload\//
}

/** Whether a request is the one whose answer is altered. */
const isAltered = Effect.fnUntraced(function* (
  { having, method, path }: Altered,
  { body, headers, method: requested, path: at, query }: EmulatorHttp.Request
) {
  const isPath = paths[path]?.test(at) ?? at.replace(/^\/chats\/-\d+(?=\/)/, "") === path
  if (requested !== method || !(isPath || at === path)) return false
  if (having === undefined) return true
  const text = yield* Effect.orElseSucceed(body.text, () => "")
  const { authorization = "", "content-range": range = "" } = headers
  return `${decodeURIComponent(query)} ${text} ${authorization} ${range}`.includes(having)
})

/** Upload hosts answer by texts as well. */
const parsed = (body: string): unknown =>
  Result.getOrElse(
    Result.try(() => JSON.parse(body) as unknown),
    () => body
  )

const alter =
  (altered: Altered): EmulatorHttp.Interceptor =>
  (request, next) =>
    Effect.gen(function* () {
      const response = yield* next
      if (!(yield* isAltered(altered, request))) return response
      const { change, status = response.status } = altered
      const body = change === undefined ? response.body : JSON.stringify(change(parsed(response.body)))
      return { ...response, status, body }
    })

describe("colloquy verify-platform", () => {
  it.effect("confirms all that the emulator does, within three minutes, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const { findings, left, millis } = yield* run()
      assert.deepStrictEqual(
        findings
          .filter(({ result }) => result !== "confirmed")
          .map(({ assumption, detail }) => `${assumption}: ${detail}`),
        []
      )
      assert.isAtLeast(findings.length, 50)
      assert.isBelow(millis, 180_000)
      assert.deepStrictEqual(left, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("confirms comments as well in a channel", () =>
    Effect.gen(function* () {
      const { findings, left } = yield* run({ type: "channel" })
      assert.deepStrictEqual(
        findings
          .filter(({ result }) => result !== "confirmed")
          .map(({ assumption, detail }) => `${assumption}: ${detail}`),
        []
      )
      assert.includeMembers(
        findings.map(({ assumption }) => assumption as string),
        Object.keys(alterationsInChannel)
      )
      assert.deepStrictEqual(left, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("says that calls are unclear for which the bot lacks a right, and that nothing differs", () =>
    Effect.gen(function* () {
      const { findings } = yield* run({ admin: false })
      const unclear = findings.filter(({ result }) => result === "unclear").map(({ assumption }) => assumption)
      assert.include(unclear, "pin")
      assert.deepStrictEqual(
        findings
          .filter(({ result }) => result === "differs")
          .map(({ assumption, detail }) => `${assumption}: ${detail}`),
        []
      )
    }).pipe(Effect.provide(layer))
  )

  it("can be told about every assumption that is tried", () => {
    const told = { ...alterations, ...alterationsInChannel }
    const untold = observations.map(({ assumption }) => assumption).filter((name) => told[name] === undefined)
    assert.deepStrictEqual(untold, ["forwardOfForward"])
  })

  it.effect.each([
    ...Object.entries(alterations).map(([name, altered]) => [name, altered, undefined] as const),
    ["messageIds", noInteger, undefined] as const,
    ...Object.entries(alterationsInChannel).map(([name, altered]) => [name, altered, "channel"] as const)
  ])("finds the fact that differs, and no other: %s", ([name, altered, type]) =>
    Effect.gen(function* () {
      yield* Emulator.intercept(alter(altered))
      const { findings } = yield* run(type === undefined ? {} : { type })
      const others = findings.filter(({ result }) => result !== "confirmed")
      assert.deepStrictEqual(
        others.map(({ assumption, result }) => [assumption, result]),
        [[name, "differs"]]
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
