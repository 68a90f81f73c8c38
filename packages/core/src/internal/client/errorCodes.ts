/**
 * The codes of error bodies by which an error is recognised before its status. One constant each, so that a program
 * bundles those of its own errors only.
 *
 * @assumption A The codes of error bodies by which an error is recognised before its status.
 */
export const unauthorized = ["verify.token", "deprecated.token"]
export const forbidden = ["chat.denied", "access.denied"]
export const notFound = ["chat.not.found", "message.not.found", "not.found"]
export const rateLimited = ["too.many.requests"]
export const attachmentNotReady = ["attachment.not.ready"]
export const commentsTimeoutExceeded = ["comments.timeout_exceeded"]
