/**
 * Constants of the platform: limits, rates, error codes and the delivery of webhooks.
 *
 * The client, the emulator and the documentation read these constants. A fact that the API document does not show is an
 * {@link Assumption} with a {@link Grade}; `docs/assumptions.md` lists all of them with the places that rely on them.
 * Each fact is a constant of its own, so a bundle contains only the facts that a program uses.
 *
 * API: Limits; Errors; Events.
 *
 * @since 0.1.0
 */
import * as Record from "effect/Record"

/**
 * Maximum length of the text of a message or a comment, in characters: see {@link lengthOf}.
 *
 * API: Limits.
 *
 * @category messages
 * @since 0.1.0
 */
export const maxTextLength = 4000

/**
 * Returns the number of characters of a text, as the limits count them: Unicode code points, so most emoji are one
 * character, although they have two UTF-16 code units.
 *
 * The document does not define a character. The client must not reject texts that the platform accepts, so the client
 * counts the smaller number, as JSON Schema does. `Text.split` counts UTF-16 code units, so its parts fit in any case.
 *
 * API: Limits.
 *
 * **Example** (An emoji is one character)
 *
 * ```ts
 * import { Platform } from "@colloquy/core"
 *
 * Platform.lengthOf("Hi 👋") // => 4
 * ```
 *
 * @assumption characters
 * @category messages
 * @since 0.1.0
 */
export const lengthOf = (text: string): number => {
  let length = 0
  for (const _ of text) length++
  return length
}

/**
 * The start of a URL that mentions a user: the ID of the user follows.
 *
 * API: Resources and their fields, Attachment and MarkupElement.
 *
 * @assumption mentionUrl
 * @category messages
 * @since 0.1.0
 */
export const mentionUrlPrefix = "max://user/"

/**
 * Maximum number of attachments of a message, an inline keyboard included.
 *
 * API: Limits.
 *
 * @category messages
 * @since 0.1.0
 */
export const maxAttachments = 12

/**
 * Types of attachments that must be the only attachment of a message, apart from an inline keyboard.
 *
 * API: Request-side message body (NewMessageBody).
 *
 * @assumption soleAttachments
 * @category messages
 * @since 0.1.0
 */
export const soleAttachmentTypes: ReadonlyArray<string> = ["audio", "file", "contact", "sticker"]

/**
 * Types of attachments that a message with an image can have, apart from an inline keyboard.
 *
 * API: Request-side message body (NewMessageBody).
 *
 * @category messages
 * @since 0.1.0
 */
export const attachmentTypesWithImage: ReadonlyArray<string> = ["image", "video"]

/**
 * Number of messages that one call of GET /messages returns.
 *
 * API: GET /messages.
 *
 * @category messages
 * @since 0.1.0
 */
export const messagesPage = { max: 100, default: 50 } as const

/**
 * Number of comments that one call of GET /messages/{messageId}/comments returns.
 *
 * API: GET /messages/{messageId}/comments.
 *
 * @category messages
 * @since 0.1.0
 */
export const commentsPage = { max: 100, default: 50 } as const

/**
 * The time after its publication in which a comment can be edited, in milliseconds.
 *
 * API: PUT /messages/{messageId}/comments.
 *
 * @assumption commentEditWindow
 * @category messages
 * @since 0.1.0
 */
export const commentEditWindow = 26 * 60 * 60 * 1000

/**
 * The time after the sending in which a message of a dialog can be edited, in milliseconds. A message with an inline
 * keyboard and the messages of group chats and channels can always be edited.
 *
 * API: PUT /messages.
 *
 * @assumption messageEditWindow
 * @category messages
 * @since 0.1.0
 */
export const messageEditWindow = 7 * 24 * 60 * 60 * 1000

/**
 * Maximum length of the title of a chat, in characters. A title has at least one character.
 *
 * API: Limits.
 *
 * @category chats
 * @since 0.1.0
 */
export const maxTitleLength = 200

/**
 * Maximum length of the description of a chat or a user, in characters.
 *
 * API: Limits.
 *
 * @category chats
 * @since 0.1.0
 */
export const maxDescriptionLength = 16_000

/**
 * Actions that a bot can show in a chat.
 *
 * API: POST /chats/{chatId}/actions.
 *
 * @assumption senderActions
 * @category chats
 * @since 0.1.0
 */
export const senderActions = [
  "typing_on",
  "sending_photo",
  "sending_video",
  "sending_audio",
  "sending_file",
  "mark_seen"
] as const

/**
 * Number of members that one call of GET /chats/{chatId}/members returns.
 *
 * API: GET /chats/{chatId}/members.
 *
 * @assumption membersPage
 * @category chats
 * @since 0.1.0
 */
export const membersPage = { max: 100, default: 20 } as const

/**
 * Maximum number of users that one call adds to a group chat.
 *
 * API: Limits.
 *
 * @category chats
 * @since 0.1.0
 */
export const maxAddedMembers = 100

/**
 * Maximum number of administrators of a chat.
 *
 * API: POST /chats/{chatId}/members/admins.
 *
 * @assumption maxAdmins
 * @category chats
 * @since 0.1.0
 */
export const maxAdmins = 50

/**
 * Old names of administrator rights. The platform still sends them, and does not grant them.
 *
 * API: Endpoints, Other operations (POST /chats/{chatId}/members/admins).
 *
 * @assumption oldPermissions
 * @category chats
 * @since 0.1.0
 */
export const oldPermissions: ReadonlyArray<string> = ["post_edit_delete_message", "edit_message", "delete_message"]

/**
 * Maximum number of commands of a bot.
 *
 * API: Endpoints, Other operations (PATCH /me/commands).
 *
 * @assumption commandLimits
 * @category bots
 * @since 0.1.0
 */
export const maxCommands = 32

/**
 * Maximum length of the name of a command, in characters. A name has at least one character.
 *
 * API: Endpoints, Other operations (PATCH /me/commands).
 *
 * @assumption commandLimits
 * @category bots
 * @since 0.1.0
 */
export const maxCommandNameLength = 64

/**
 * Maximum length of the description of a command, in characters. A description has at least one character.
 *
 * API: Endpoints, Other operations (PATCH /me/commands).
 *
 * @assumption commandLimits
 * @category bots
 * @since 0.1.0
 */
export const maxCommandDescriptionLength = 128

/**
 * Maximum length of the payload of a deep link, in characters.
 *
 * API: Events.
 *
 * @assumption startPayloadLength
 * @category bots
 * @since 0.1.0
 */
export const maxStartPayloadLength = 128

/**
 * Maximum number of buttons of a keyboard.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const maxButtons = 210

/**
 * Maximum number of rows of a keyboard.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const maxRows = 30

/**
 * Maximum number of buttons in a row.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const maxButtonsInRow = 7

/**
 * Maximum number of buttons in a row that has a button of one of the {@link wideButtonTypes}.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const maxButtonsInWideRow = 3

/**
 * Types of buttons that limit their row to {@link maxButtonsInWideRow} buttons.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const wideButtonTypes: ReadonlyArray<string> = ["link", "open_app", "request_geo_location", "request_contact"]

/**
 * Maximum length of the text of a button, in characters. A text has at least one character.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const maxButtonTextLength = 128

/**
 * Maximum length of the payload of a callback button, in characters.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const maxCallbackPayloadLength = 1024

/**
 * Maximum length of the payload of a clipboard button, in characters.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const maxClipboardPayloadLength = 1024

/**
 * Maximum length of the payload of a button that opens an application, in characters.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const maxAppPayloadLength = 512

/**
 * Maximum length of the address of a link button, in characters.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption keyboardLimits
 * @category keyboards
 * @since 0.1.0
 */
export const maxButtonUrlLength = 2048

/**
 * Maximum length of the address of a mini app, in characters. The address starts with `https://`.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @assumption miniAppUrl
 * @category keyboards
 * @since 0.1.0
 */
export const maxMiniAppUrlLength = 1024

/**
 * Maximum depth of the objects and lists in JSON that the client reads: responses, updates and stored updates. The
 * deepest documented message has 10 levels. A deeper part is not decoded, because recursive functions would exceed the
 * stack.
 *
 * API: General conventions.
 *
 * @assumption jsonDepth
 * @category requests
 * @since 0.1.0
 */
export const maxJsonDepth = 256

/**
 * Maximum number of values in a part of JSON that is decoded at once: an update, an element of a page, or the rest of a
 * response. Every member of an object, every element of a list, and every object and list counts. The largest
 * documented message has about 10,000 values. A part with more values is not decoded.
 *
 * API: General conventions.
 *
 * @assumption jsonValues
 * @category requests
 * @since 0.1.0
 */
export const maxJsonValues = 16_384

/**
 * Maximum number of digits of an integer in JSON. A 64-bit integer has at most 19 digits. A part of JSON with a longer
 * integer is not decoded, because the time to convert an integer grows with the square of its length.
 *
 * API: General conventions.
 *
 * @assumption jsonDigits
 * @category requests
 * @since 0.1.0
 */
export const maxJsonDigits = 1000

/**
 * Default of the maximum size of a response, in bytes: see `maxResponseSize` of `BotApi.Options`.
 *
 * API: General conventions.
 *
 * @category requests
 * @since 0.1.0
 */
export const maxResponseSize: number = 8 * 2 ** 20

/**
 * Number of updates that one call of GET /updates requests. A response has at most `returned` updates.
 *
 * API: Endpoints, Other operations (GET /updates).
 *
 * @assumption updatesPage
 * @assumption updatesPageReturned
 * @category updates
 * @since 0.1.0
 */
export const updatesPage = { max: 1000, default: 100, returned: 100 } as const

/**
 * The time for which a call of GET /updates waits for an update, in seconds. The platform waits for at most `waited`.
 *
 * API: Endpoints, Other operations (GET /updates).
 *
 * @assumption updatesPage
 * @assumption updatesPageReturned
 * @category updates
 * @since 0.1.0
 */
export const longPollTimeout = { max: 90, default: 30, waited: 30 } as const

/**
 * The time for which the platform keeps updates for GET /updates, in milliseconds.
 *
 * API: Events.
 *
 * @assumption updateRetention
 * @category updates
 * @since 0.1.0
 */
export const updateRetention = 24 * 60 * 60 * 1000

/**
 * Types of updates that come by webhook only, never by GET /updates.
 *
 * API: Events.
 *
 * @assumption commentsByWebhookOnly
 * @assumption rightsByWebhookOnly
 * @category updates
 * @since 0.1.0
 */
export const webhookOnlyUpdateTypes: ReadonlyArray<string> = [
  "comment_created",
  "comment_edited",
  "comment_removed",
  "bot_admin_permissions_changed"
]

/**
 * Maximum number of requests per second to the API host, for one bot.
 *
 * API: Limits.
 *
 * @category rate limits
 * @since 0.1.0
 */
export const requestsPerSecond = 30

/**
 * Maximum number of messages per second to one dialog, group chat or channel.
 *
 * API: Limits.
 *
 * @category rate limits
 * @since 0.1.0
 */
export const messagesPerSecond = 2

/**
 * Maximum number of edits of messages per second in one dialog, group chat or channel.
 *
 * API: PUT /messages.
 *
 * @assumption editRate
 * @assumption rateLimitScopes
 * @category rate limits
 * @since 0.1.0
 */
export const editsPerSecond = 2

/**
 * Maximum number of deletions of messages per second in one dialog, group chat or channel.
 *
 * API: DELETE /messages.
 *
 * @assumption removalRate
 * @assumption rateLimitScopes
 * @category rate limits
 * @since 0.1.0
 */
export const removalsPerSecond = 2

/**
 * Maximum number of answers to callbacks per second in one dialog, group chat or channel.
 *
 * API: Limits.
 *
 * @category rate limits
 * @since 0.1.0
 */
export const answersPerSecond = 2

/**
 * Maximum number of calls of GET /updates per second, for one bot.
 *
 * API: Limits.
 *
 * @assumption pollingRate
 * @category rate limits
 * @since 0.1.0
 */
export const pollsPerSecond = 2

/**
 * The header that carries the secret of a webhook.
 *
 * API: POST /subscriptions.
 *
 * @category webhooks
 * @since 0.1.0
 */
export const secretHeader = "X-Svc-Bot-Api-Secret"

/**
 * Characters that the secret of a webhook may contain besides letters and digits.
 *
 * API: POST /subscriptions.
 *
 * @category webhooks
 * @since 0.1.0
 */
export const secretCharacters = "-"

/**
 * Minimum length of the secret of a webhook.
 *
 * API: POST /subscriptions.
 *
 * @category webhooks
 * @since 0.1.0
 */
export const minSecretLength = 5

/**
 * Maximum length of the secret of a webhook.
 *
 * API: POST /subscriptions.
 *
 * @category webhooks
 * @since 0.1.0
 */
export const maxSecretLength = 256

/**
 * Maximum time in which a webhook may answer a delivery, in milliseconds.
 *
 * API: Events.
 *
 * @category webhooks
 * @since 0.1.0
 */
export const webhookTimeout = 30_000

/**
 * Maximum number of retries of a failed delivery.
 *
 * API: Events.
 *
 * @category webhooks
 * @since 0.1.0
 */
export const maxWebhookRetries = 10

/**
 * The delay before a retry of a failed delivery, in milliseconds: 60 seconds before the first retry, then 2.5 times the
 * delay before.
 *
 * API: Events.
 *
 * **Example** (The delay before the third retry)
 *
 * ```ts
 * import { Platform } from "@colloquy/core"
 *
 * Platform.webhookRetryDelay(3) // => 375000
 * ```
 *
 * @category webhooks
 * @since 0.1.0
 */
export const webhookRetryDelay = (retry: number): number => Math.round(60_000 * 2.5 ** (retry - 1))

/**
 * The time after which the platform unsubscribes a failing webhook, in milliseconds.
 *
 * API: Events.
 *
 * @assumption unsubscribeClock
 * @category webhooks
 * @since 0.1.0
 */
export const webhookFailureTimeout = 8 * 60 * 60 * 1000

/**
 * Maximum size of the body of an API request, in bytes.
 *
 * @assumption maxRequestSize
 * @category requests
 * @since 0.1.0
 */
export const maxRequestSize = 4 * 2 ** 20

/**
 * Maximum size of an uploaded file, in bytes, by the type of the upload.
 *
 * API: Limits.
 *
 * @assumption uploadSizeUnits
 * @category uploads
 * @since 0.1.0
 */
export const maxUploadSize = {
  image: 50 * 2 ** 20,
  video: 250 * 2 ** 20,
  audio: 256 * 2 ** 20,
  file: 4 * 2 ** 30
} as const

/**
 * Extensions of the files that can be uploaded as an image. `tif` is the short form of `tiff`.
 *
 * API: Limits.
 *
 * @category uploads
 * @since 0.1.0
 */
export const imageExtensions: ReadonlyArray<string> = ["jpg", "jpeg", "png", "gif", "tiff", "tif", "bmp", "heic"]

/**
 * Extensions of the files that can be uploaded as a video.
 *
 * API: Limits.
 *
 * @category uploads
 * @since 0.1.0
 */
export const videoExtensions: ReadonlyArray<string> = ["mp4", "mov", "mkv", "webm"]

/**
 * Extensions of the files that can be uploaded as audio. The document names three "and others".
 *
 * API: Limits.
 *
 * @assumption audioExtensions
 * @category uploads
 * @since 0.1.0
 */
export const audioExtensions: ReadonlyArray<string> = [
  "mp3",
  "wav",
  "m4a",
  "aac",
  "aiff",
  "flac",
  "oga",
  "ogg",
  "opus",
  "wma"
]

/**
 * Maximum width and maximum height of an uploaded image, in pixels.
 *
 * API: Limits.
 *
 * @category uploads
 * @since 0.1.0
 */
export const maxImageSide = 7680

/**
 * Maximum duration of uploaded audio, in milliseconds.
 *
 * API: Limits.
 *
 * @category uploads
 * @since 0.1.0
 */
export const maxAudioDuration = 60 * 60 * 1000

/**
 * Maximum number of parts that the client sends in a resumable upload.
 *
 * API: Endpoints, POST /uploads.
 *
 * @assumption maxUploadParts
 * @category uploads
 * @since 0.1.0
 */
export const maxUploadParts = 1000

/**
 * The time for which the address of an image works, in milliseconds.
 *
 * API: Resources and their fields, Attachment.
 *
 * @assumption imageUrlLifetime
 * @category uploads
 * @since 0.1.0
 */
export const imageUrlLifetime = 24 * 60 * 60 * 1000

/**
 * Error code: the token is missing, wrong or revoked (401).
 *
 * API: Errors.
 *
 * @assumption commonErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeInvalidToken = "verify.token"

/**
 * Error code: the bot has another token now (403).
 *
 * API: Errors.
 *
 * @assumption commonErrorCodes
 * @assumption deprecatedToken
 * @category error codes
 * @since 0.1.0
 */
export const codeDeprecatedToken = "deprecated.token"

/**
 * Error code: the bot has no right to do this in the chat (403).
 *
 * API: Errors.
 *
 * @assumption commonErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeChatDenied = "chat.denied"

/**
 * Error code: the bot has no access to the resource (403).
 *
 * API: Errors.
 *
 * @assumption commonErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeAccessDenied = "access.denied"

/**
 * Error code: an attached file is still being processed (400).
 *
 * API: Errors.
 *
 * @assumption commonErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeAttachmentNotReady = "attachment.not.ready"

/**
 * Error code: the request cannot be read, or breaks a rule (400).
 *
 * API: Errors.
 *
 * @assumption otherErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeInvalidPayload = "proto.payload"

/**
 * Error code: there is no such chat (404).
 *
 * API: Errors.
 *
 * @assumption otherErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeChatNotFound = "chat.not.found"

/**
 * Error code: there is no such message (404).
 *
 * API: Errors.
 *
 * @assumption otherErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeMessageNotFound = "message.not.found"

/**
 * Error code: there is no such resource (404).
 *
 * API: Errors.
 *
 * @assumption otherErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeNotFound = "not.found"

/**
 * Error code: the call is not allowed now (405).
 *
 * API: Errors.
 *
 * @assumption methodNotAllowed
 * @category error codes
 * @since 0.1.0
 */
export const codeMethodNotAllowed = "method.not.allowed"

/**
 * Error code: the comment is too old to be edited (422).
 *
 * API: Errors.
 *
 * @assumption otherErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeCommentTooOld = "comments.timeout_exceeded"

/**
 * Error code: too many requests (429).
 *
 * API: Errors.
 *
 * @assumption otherErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeTooManyRequests = "too.many.requests"

/**
 * Error code: the platform has a problem (500).
 *
 * API: Errors.
 *
 * @assumption otherErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const codeInternalError = "internal.error"

/**
 * Error code: a user could not be added to a chat because of their privacy settings.
 *
 * API: Errors.
 *
 * @category error codes
 * @since 0.1.0
 */
export const codeAddParticipantPrivacy = "add.participant.privacy"

/**
 * Error code: a user to be added to a chat does not exist.
 *
 * API: Errors.
 *
 * @category error codes
 * @since 0.1.0
 */
export const codeAddParticipantNotFound = "add.participant.not.found"

/**
 * The text of a {@link codeChatDenied} error where the user stopped the dialog.
 *
 * API: Errors.
 *
 * @assumption commonErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const messageDialogSuspended = "error.dialog.suspended"

/**
 * The text of a {@link codeChatDenied} error where the bot is not an administrator.
 *
 * API: Errors.
 *
 * @assumption commonErrorCodes
 * @category error codes
 * @since 0.1.0
 */
export const messageNotAdmin = "chat.send.msg.no.permission.because.not.admin"

/**
 * The text of a {@link codeChatDenied} error where the messages of a chat must not be forwarded.
 *
 * API: Errors.
 *
 * @assumption forwardingProhibited
 * @category error codes
 * @since 0.1.0
 */
export const messageForwardingProhibited = "Forwarding messages from this chat or channel is prohibited"

/**
 * The certainty of an assumption.
 *
 * - `A`: several independent sources, or seen in real traffic.
 * - `B`: one good source.
 * - `C`: one weak source.
 *
 * @category assumptions
 * @since 0.1.0
 */
export type Grade = "A" | "B" | "C"

/**
 * A fact about the platform that the API document does not show.
 *
 * @category assumptions
 * @since 0.1.0
 */
export interface Assumption {
  /** The certainty of the assumption. */
  readonly grade: Grade
  /** The assumption. */
  readonly fact: string
}

/**
 * The name of an assumption.
 *
 * @category assumptions
 * @since 0.1.0
 */
export type AssumptionName = keyof typeof facts

/** The facts by name, each after its grade. */
const facts = {
  soleAttachments:
    "A: `audio`, `file`, `contact` and `sticker` must be the only attachment of a message, apart from a keyboard.",
  recipient: "C: Exactly one of `user_id` and `chat_id` says who receives a message.",
  messageIds:
    "A: The id of a message is `mid.`, 16 hexadecimal digits of the id of its chat (two's complement) and 16 of its `seq`.",
  repliesAcrossChats:
    "C: A message can reply to a message of another chat that the bot is in: the document names no such limit.",
  absentParts: "A: A message has no `attachments` or `markup` in its body where it has none.",
  emptyText: "C: A message without a text has an empty `text` in its body.",
  forwardBody:
    "B: The body of a message that only forwards another has `mid`, `seq` and an empty `text`. The document allows null.",
  forwardOfForward:
    "C: A forward of a message that only forwards another links to the original, in the chat where it was first published.",
  listMessages: "A: GET /messages takes `before` and `after` with the meaning they have in the call for comments.",
  listedByBoth: "C: GET /messages with `chat_id` and `message_ids` returns the messages with these ids.",
  editMessage:
    "A: PUT /messages takes the query parameter `message_id` and a NewMessageBody, and returns {success, message?}.",
  removeMessage: "A: DELETE /messages takes the query parameter `message_id`, and returns {success, message?}.",
  messageEditWindow:
    "A: In a dialog, a message without an inline keyboard can be edited for 7 days; every other message can always be edited.",
  removableMessages:
    "A: A bot can remove its own messages in a dialog, and in group chats and channels any message with the right `delete`.",
  descriptionEdits:
    "C: PATCH /chats changes the description. In one report, `description` alone was answered with an error in a body of status 200, and other fields with 200 and the old description.",
  forwardingProhibited:
    'B: Forwarding can fail with 403 `chat.denied`, "Forwarding messages from this chat or channel is prohibited".',
  answerNotification: "A: The field `notification` of POST /answers carries the one-time notification.",
  emptyAnswer: "B: POST /answers with neither `message` nor `notification` is rejected with 400 `proto.payload`.",
  receivedAttachments:
    "A: The payloads of received `video`, `audio`, `file`, `sticker`, `contact`, `inline_keyboard`, `share` and `location` attachments.",
  sentAttachments: "A: The payloads of `sticker`, `contact`, `share` and `location` attachments to send.",
  stickerByUrl: "B: A sticker is sent by its `code` or by its `url`.",
  storedFiles: "B: An uploaded file is stored until its message is deleted.",
  requestedContact:
    "A: The contact that a user sends by a `request_contact` button has their vCard with their phone number as `TEL` in `vcf_info`, and the user in `max_info`.",
  contactHash:
    "C: The `hash` of such a contact is the HMAC-SHA256 of `vcf_info` with the token of the bot as the key, in hexadecimal digits.",
  buttonTypes: "A: The types of buttons besides `link`, and their fields.",
  keyboardLimits:
    "A: The limits of a keyboard: number of buttons, of rows and of buttons in a row, lengths of texts, payloads and addresses.",
  markupTypes: "A: The types of markup elements, and the fields of a link and a mention.",
  markupUnits: "B: `from` and `length` of a markup element count UTF-16 code units.",
  characters:
    "C: The maximum lengths of texts, titles, descriptions and buttons count Unicode code points: a text of 4000 emoji is valid.",
  markupSyntax: "A: The elements of HTML and the delimiters of markdown for each type of markup.",
  quotesRecognized:
    "C: `<blockquote>` and `> text` are recognized as quotes. In one report they were not, and their text remained.",
  unknownHtmlTags: "B: An unknown tag in a text with `format: html` is removed, and the text in it remains.",
  markupLength: "C: The maximum length of a text applies to the text with its markup.",
  mentionUrl: "C: A link to `max://user/` and the ID of a user is a mention of that user.",
  markdownEscapes: "C: In markdown, a backslash before a special character makes it plain text, as in CommonMark.",
  markdownQuoteEnd: "C: In markdown, a line that does not start with `>` ends a quote.",
  listComments: "A: GET /messages/{messageId}/comments returns {messages: [Comment], marker?}.",
  commentTimes: "A: In GET /messages/{messageId}/comments, `after` means later than, and `before` means earlier than.",
  commentMarker:
    "C: GET /messages/{messageId}/comments takes the `marker` of the previous page, as the other lists do.",
  getComment: "A: GET /messages/{messageId}/comments/{commentId} returns a Comment.",
  sendComment:
    "A: POST /messages/{messageId}/comments returns a Comment as documented, {message: Comment} as seen in traffic, or both in one object.",
  editComment: "A: The query parameter `comment_id` holds the id of the comment to edit.",
  removeComment:
    "A: DELETE /messages/{messageId}/comments takes the query parameter `comment_id`, and returns {success, message?}.",
  commentEditWindow: "B: A comment can be edited for 26 hours.",
  commentRemoval: "B: Removing a comment, also one of the bot, requires the rights `read_all_messages` and `delete`.",
  suspendedStatus: "A: The status of a chat can be `suspended`: the user stopped the dialog.",
  dialogIds: "A: Only dialogs have a positive `chat_id`.",
  chatActions: "A: POST /chats/{chatId}/actions takes {action}, and returns {success, message?}.",
  senderActions: "A: The actions that POST /chats/{chatId}/actions takes.",
  getPin: "A: GET /chats/{chatId}/pin returns {message?}.",
  pin: "A: PUT /chats/{chatId}/pin takes {message_id, notify?}, and returns {success, message?}.",
  unpin: "A: DELETE /chats/{chatId}/pin returns {success, message?}.",
  serviceMessages:
    "C: The notice that members receive of a change of the chat is not a message of the chat, and bots receive no update of it.",
  closedChats:
    "C: Sending messages, adding members, pinning and editing fail with 403 `chat.denied` in a closed chat and in an archived channel.",
  listMembers: "A: GET /chats/{chatId}/members returns {members, marker?}.",
  membersPage: "A: GET /chats/{chatId}/members returns 1 to 100 members. Default: 20.",
  addMembers: "A: POST /chats/{chatId}/members returns {success, message?, failed_user_ids?, failed_user_details?}.",
  removeMember:
    "A: DELETE /chats/{chatId}/members takes the query parameters `user_id` and `block`, and returns {success, message?}.",
  getMe: "A: GET /chats/{chatId}/members/me returns a ChatMember.",
  leaveChat: "A: DELETE /chats/{chatId}/members/me returns {success, message?}.",
  listAdmins: "A: GET /chats/{chatId}/members/admins returns {members, marker?}.",
  setAdmins:
    "A: POST /chats/{chatId}/members/admins takes {admins: [{user_id, permissions, alias?}]}, and returns {success, message?}.",
  removeAdmin: "A: DELETE /chats/{chatId}/members/admins/{userId} returns {success, message?}.",
  maxAdmins: "A: A chat has at most 50 administrators.",
  permissions: "A: The administrator rights besides the four that the document names.",
  oldPermissions:
    "B: The rights `post_edit_delete_message`, `edit_message` and `delete_message` are old names: they arrive, and are not granted.",
  ownerStays: "C: Removing the owner of a group chat returns `success: true` and changes nothing.",
  userNames: "A: A user has the deprecated field `name`, with the first and the last name.",
  botInfo: "A: GET /me returns a UserWithPhoto and `commands`.",
  setCommands: "A: PATCH /me/commands takes {commands}, and returns {commands?}.",
  commandLimits:
    "A: PATCH /me/commands takes at most 32 commands, with names of 1 to 64 and descriptions of 1 to 128 characters.",
  startPayloadLength: "B: The payload of a deep link has at most 128 characters.",
  startPayloadCharacters: "C: A deep link carries letters, digits, `_` and `-` of its payload unchanged.",
  updateTypes: "A: The types of updates besides the five that the document names, and the fields of all of them.",
  oldAppsStart:
    "B: Old versions of the messenger open a deep link without its payload. A typed `/start` is a `message_created`, not a `bot_started`.",
  removedDialogs: "B: `dialog_removed` comes together with `bot_stopped`, and the bot cannot write to the dialog.",
  duplicateUpdates: "B: The same event has the same `mid`, `callback_id` or time in each delivery.",
  joinedByThemselves: "A: `user_added` has no `inviter_id` where a person joined by themselves.",
  leftByThemselves: "A: `user_removed` has no `admin_id` where a person left by themselves.",
  botsAsMembers:
    "C: The other bots in a chat receive `user_added` and `user_removed` for a bot that is added or removed.",
  updatesOfStoppedDialogs:
    "B: An edited or removed message, `dialog_cleared`, `dialog_muted` and `dialog_unmuted` can also arrive for a dialog that its user stopped.",
  chatStatus:
    "B: The bot is in a chat whose status is `active`, and not in one whose status is `removed`, `left`, `closed` or `suspended`. `last_event_time` is not earlier than the last change of the title and of the bot's membership.",
  jsonDepth: "C: JSON of the platform is nested at most 256 levels deep.",
  jsonValues:
    "C: An update, and a response without its list, has at most 16,384 values. An element of a list likewise.",
  jsonDigits: "C: An integer of the platform has at most 1000 digits.",
  listUpdates: "A: GET /updates returns {updates, marker?}. A marker that is passed commits everything before it.",
  updatesPage: "A: GET /updates returns 1 to 1000 updates (default: 100) and waits 0 to 90 seconds (default: 30).",
  updatesPageReturned:
    "B: GET /updates returns at most 100 updates and waits for at most 30 seconds, also where more is requested.",
  updateRetention: "A: The platform keeps updates for 24 hours.",
  commentsByWebhookOnly: "A: Updates of comments come by webhook only.",
  rightsByWebhookOnly: "B: `bot_admin_permissions_changed` comes by webhook only.",
  commentsAsMessages:
    "C: A comment can come as `message_created`, `message_edited` or `message_removed` with the `post_id` of its post.",
  pollingRate: "A: GET /updates can be called twice per second.",
  editRate: "A: In one chat, 2 messages can be edited per second.",
  removalRate: "A: In one chat, 2 messages can be deleted per second.",
  retryAfterHeader: "B: A response with status 429 has no Retry-After header.",
  rateLimitScopes:
    "C: Editing or deleting a message, sending a comment and editing a comment count as sending a message to the chat. The pages state each limit by itself.",
  rejectedRequests: "B: A request that is rejected with 429 does not count towards a limit.",
  listSubscriptions: "A: GET /subscriptions returns {subscriptions: [{url, time, update_types?}]}.",
  unsubscribe: "A: DELETE /subscriptions takes the query parameter `url`, and returns {success, message?}.",
  miniAppInitData:
    'A: The init data of a mini app are a query string with `auth_date`, `query_id`, `user` {id, first_name, last_name, username, language_code, photo_url}, `chat` {id, type}, `start_param`, `ip` (B) and `hash`. `hash` is the hexadecimal HMAC-SHA256 of the other decoded fields as lines `name=value` in alphabetical order; its key is the HMAC-SHA256 of the token with the key "WebAppData".',
  miniAppUrl: "B: The address of a mini app starts with `https://` and has at most 1024 characters.",
  miniAppAuthDate: "C: The `auth_date` of a mini app is in milliseconds, or in seconds if it is below 10^11.",
  webhookSecretOfRetries: "C: A retried delivery carries the secret that the subscription has at that time.",
  webhookContentType: "B: A delivery has a JSON type as its content type, or none.",
  deliveryOrder:
    "C: A failed delivery does not delay the updates after it: they are delivered at once, and its retries come between them.",
  changedSubscriptions: "C: A subscription that is changed keeps its retries, and the 8 hours start again.",
  unsubscribeClock: "C: The 8 hours without a success start at the first failure after the last success.",
  commonErrorCodes:
    "A: The codes `verify.token`, `deprecated.token`, `chat.denied`, `access.denied` and `attachment.not.ready` in the body of an error, and the texts of `chat.denied`.",
  otherErrorCodes:
    "B: The codes `proto.payload`, `chat.not.found`, `message.not.found`, `not.found`, `comments.timeout_exceeded`, `too.many.requests` and `internal.error` in the body of an error.",
  methodNotAllowed: "C: The body of an error with status 405 has the code `method.not.allowed`.",
  deprecatedToken: "C: A token that was replaced by another one is rejected with 403 `deprecated.token`.",
  maxRequestSize: "C: The body of an API request has at most 4 MiB; a larger one is rejected with 413 `proto.payload`.",
  uploadSizeUnits: "C: The megabytes and gigabytes of the upload limits are powers of two.",
  audioExtensions:
    'C: The "others" of audio files are aac, aiff, flac, oga, ogg, opus and wma. Every extension can be uploaded as a file. In one report, `.wav` was refused with 415.',
  forbiddenExtension: "C: An upload host rejects a forbidden extension with 415.",
  uploadTooLarge: "C: An upload host rejects a file that is too large with 413, as soon as the size is known.",
  uploadRejections:
    "C: An upload host can reject a file with status 200: the body has an `error_code`, or a `retval` other than 1.",
  mediaUploadResponse:
    "A: The response to an image is `photos`, each with a token; the response to video and audio is `<retval>1</retval>`, or `retval` in JSON.",
  fileUploadResponse: "B: The response to a file has its token beside `fileId`.",
  fileNameEncoding:
    "B: A file name that is not plain ASCII is percent-encoded in the content disposition of a form and of a part.",
  uploadFields: "C: A form uploads its file in the field `data`; for audio and video also in the field `file`.",
  maxUploadParts:
    "C: An upload can have 1000 parts. Programs that send more exist, so the client sends no more and the emulator accepts any number.",
  partRequest:
    "B: A part is sent as raw bytes by POST, with `Content-Range: bytes first-last/size` and the name of the file.",
  partResponse: "C: The response to a part is `0-<last byte>/<size>`: how much has been received.",
  misplacedPart: "C: A part is rejected with 416 or 500 where it does not continue the upload.",
  uploadStatus: "C: A status query returns 200 and how much has been received, or 204 where the upload has not begun.",
  uploadStatusUnavailable: "C: Some responses to a status query say nothing about the upload: the host is unavailable.",
  expiredTokens: "C: An attachment token that no longer works is rejected with 400, as is one that never existed.",
  processingTime: "B: Processing a file takes from under a second to minutes: 2 MiB per second, 200 ms at least.",
  videoFiles:
    "C: The renditions `mp4_…` of GET /videos/{token} are files; the `url` of a video attachment can be a page.",
  renewedAddresses:
    "C: The attachments of a message that is requested again have new addresses, also of audio, files and stickers, under the same tokens.",
  imageUrlLifetime: "C: The address of an image works for one day.",
  expiredImageUrl: "C: The address of an image that has expired returns 410.",
  unrecognizedImages: "C: An upload host accepts an image whose format it does not recognize.",
  audioWithoutDuration: "C: An upload host accepts audio whose header does not state its duration.",
  videoWithoutHeader:
    "C: A video whose header does not state its size and duration has 1280 x 720 px and lasts one second.",
  getVideo: "A: GET /videos/{token} returns token, urls, thumbnail, width, height and duration."
} satisfies Readonly<Record<string, `${Grade}: ${string}`>>

/**
 * All assumptions by name. Code that relies on an assumption names it with the tag `@assumption`.
 *
 * **Example** (The weakest assumptions)
 *
 * ```ts
 * import { Platform } from "@colloquy/core"
 *
 * const weak = Object.values(Platform.assumptions).filter(({ grade }) => grade === "C")
 * ```
 *
 * @category assumptions
 * @since 0.1.0
 */
export const assumptions: Readonly<Record<keyof typeof facts, Assumption>> = /* @__PURE__ */ Record.map(
  facts,
  (row) => ({
    grade: row[0] as Grade,
    fact: row.slice(3)
  })
)
