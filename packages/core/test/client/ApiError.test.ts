import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import { ApiError, PermanentError, StoreError, UploadError, User } from "../../src/index.ts"

const answer = { endpoint: "Messages.send", status: 403, code: "chat.denied", detail: "no right", body: "{}" }

const failed = (reason: ApiError.Reason) => new ApiError.RequestFailed({ endpoint: "Messages.send", reason })

const transport = (kind: ApiError.Transport["kind"], isSent: boolean) =>
  failed(new ApiError.Transport({ kind, isSent, code: "CODE", detail: "it broke", hint: "Do this." }))

const status = (status: number) => failed(new ApiError.UnexpectedStatus({ status, body: "" }))

describe("ApiError: the message names the failure, the endpoint, and the solution", () => {
  const messages: ReadonlyArray<readonly [ApiError.ApiError, string]> = [
    [
      new ApiError.Unauthorized({ endpoint: "Me.get", status: 401, code: "verify.token", body: "" }),
      "Me.get: the platform does not accept the token (401 verify.token). " +
        "Check the setting BOT_TOKEN: it must be the token from the settings of the bot, without `Bearer`."
    ],
    [
      new ApiError.Forbidden(answer),
      "Messages.send: the bot is not allowed to do this (403 chat.denied: no right). " +
        "Make the bot an administrator with the required right, or stop using this chat."
    ],
    [
      new ApiError.Forbidden({ ...answer, detail: "error.dialog.suspended" }),
      "Messages.send: the bot is not allowed to do this (403 chat.denied: error.dialog.suspended). " +
        "The user stopped the bot: do not send to this chat until they start it again."
    ],
    [
      new ApiError.NotFound({ endpoint: "Chats.get", status: 404, body: "" }),
      "Chats.get: not found (404). Check the id: it may be deleted, or the bot may have no access to it."
    ],
    [
      new ApiError.MethodNotAllowed({ endpoint: "Updates.list", status: 405, body: "" }),
      "Updates.list: the platform does not allow this now (405). A webhook is subscribed: " +
        "remove it with Subscriptions.unsubscribe, or receive the updates through it."
    ],
    [
      new ApiError.MethodNotAllowed({ endpoint: "Answers.send", status: 405, body: "" }),
      "Answers.send: the platform does not allow this now (405). " +
        "The callback may have been answered already, or its message may be deleted."
    ],
    [
      new ApiError.AttachmentNotReady({ ...answer, status: 400, code: "attachment.not.ready", detail: "processing" }),
      "Messages.send: the attached file is still being processed (400 attachment.not.ready: processing). " +
        "Send the message again later, or let RetryPolicy retry for longer: large files take minutes."
    ],
    [
      new ApiError.CommentsTimeoutExceeded({ endpoint: "Comments.edit", status: 422, body: "" }),
      "Comments.edit: the comment is too old to be edited (422). Delete it or send another one."
    ],
    [
      new ApiError.AddParticipantFailed({
        endpoint: "Members.add",
        status: 200,
        body: "",
        failed_user_ids: [User.UserId.make(1)],
        failed_user_details: []
      }),
      "Members.add: 1 users could not be added (200). " +
        "Invite users with privacy settings by a link, and leave out users that were not found."
    ],
    [
      new ApiError.OperationRejected({ endpoint: "Chats.pin", status: 200, detail: "no such message", body: "" }),
      "Chats.pin: the platform rejected the operation (200: no such message). Nothing was changed; the text says why."
    ],
    [
      new ApiError.RateLimited({ endpoint: "Messages.send", status: 429, body: "", retryAfter: Duration.seconds(90) }),
      "Messages.send: too many requests (429). Wait 90 seconds, and lower the limits of RateLimiter if this happens often."
    ],
    [
      new ApiError.RateLimited({ endpoint: "Messages.send", status: 429, body: "" }),
      "Messages.send: too many requests (429). Wait a while, and lower the limits of RateLimiter if this happens often."
    ],
    [
      failed(
        new ApiError.InvalidRequest({
          issues: [
            { field: "text", problem: "is missing" },
            { field: "", problem: "must be an object" }
          ]
        })
      ),
      "Messages.send: invalid request, nothing was sent: `text` is missing; must be an object"
    ],
    [transport("Refused", false), "Messages.send: no response (CODE): it broke. Do this."],
    [
      failed(new ApiError.UnexpectedStatus({ status: 502, code: "internal.error", detail: "oops", body: "" })),
      "Messages.send: unexpected response 502 internal.error: oops. The platform has a problem: try again later."
    ],
    [
      status(404),
      "Messages.send: unexpected response 404. Check the setting BOT_BASE_URL: the API may not be at this address."
    ],
    [status(400), "Messages.send: unexpected response 400. See the body for the text of the platform."],
    [
      failed(new ApiError.InvalidResponse({ status: 200, problem: "the body is empty", body: "" })),
      "Messages.send: the platform executed the request, but its response cannot be read: the body is empty. " +
        "Do not repeat a call that changes something. `body` has the response, for a report."
    ]
  ]

  it.each(messages)("%#: %s", (error, message) => {
    assert.strictEqual(error.message, message)
    assert.instanceOf(error, Error)
    assert.include(Cause.pretty(Cause.fail(error)), message)
  })
})

describe("RequestFailed: isRetryable and maybeExecuted", () => {
  const table: ReadonlyArray<
    readonly [what: string, ApiError.RequestFailed, retryable: boolean, maybeExecuted: boolean]
  > = [
    ["an invalid request", failed(new ApiError.InvalidRequest({ issues: [] })), false, false],
    [
      "an answer that cannot be read",
      failed(new ApiError.InvalidResponse({ status: 200, problem: "", body: "" })),
      false,
      true
    ],
    ["refused", transport("Refused", false), true, false],
    ["unresolved", transport("Unresolved", false), true, false],
    ["untrusted", transport("Untrusted", false), false, false],
    ["connect time-out", transport("ConnectTimeout", false), true, false],
    ["time-out", transport("Timeout", true), true, true],
    ["reset", transport("Reset", true), true, true],
    ["proxy", transport("Proxy", false), false, false],
    ["something else", transport("Other", true), true, true],
    ["200", status(200), false, false],
    ["302", status(302), false, false],
    ["400", status(400), false, false],
    ["408", status(408), true, false],
    ["418", status(418), false, false],
    ["500", status(500), true, true],
    ["502", status(502), true, true],
    ["503", status(503), true, false],
    ["504", status(504), true, true]
  ]

  it.each(table)("of %s", (_, error, retryable, maybeExecuted) => {
    assert.deepStrictEqual([error.isRetryable, error.maybeExecuted], [retryable, maybeExecuted])
  })
})

describe("ApiError and the errors of stores and uploads: permanent errors", () => {
  const response = { endpoint: "Messages.send", status: 400, body: "" }
  const store = (isRetryable: boolean) =>
    new StoreError.StoreError({ store: "inbox", operation: "add", reason: "it is full", isRetryable })
  const upload = (status: number) =>
    new UploadError.UploadFailed({
      type: "video",
      fileName: "a.mp4",
      reason: new UploadError.Rejected({ status, body: "" })
    })

  it.each([
    new ApiError.Forbidden(response),
    new ApiError.NotFound(response),
    new ApiError.MethodNotAllowed(response),
    new ApiError.CommentsTimeoutExceeded(response),
    new ApiError.AddParticipantFailed({ ...response, failed_user_ids: [], failed_user_details: [] }),
    new ApiError.OperationRejected(response),
    transport("Untrusted", false),
    status(400),
    store(false),
    upload(400)
  ])("%#: %s is permanent", (error) => {
    assert.isTrue(PermanentError.isPermanentError(error))
    assert.notProperty(JSON.parse(JSON.stringify(error)), PermanentError.TypeId)
  })

  it.each([
    new ApiError.Unauthorized(response),
    new ApiError.AttachmentNotReady(response),
    new ApiError.RateLimited(response),
    transport("Reset", true),
    status(503),
    store(true),
    upload(503)
  ])("%#: %s is not permanent", (error) => {
    assert.isFalse(PermanentError.isPermanentError(error))
  })
})
