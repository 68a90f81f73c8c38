/** The sections of the API document in their order. */
export const sections = [
  "General conventions",
  "Enumerations",
  "Chat",
  "User (sender) and UserWithPhoto",
  "Message",
  "Request-side message body (NewMessageBody)",
  "Comment (comment on a channel post)",
  "Upload result",
  "States and transitions",
  "POST /uploads",
  "PATCH /chats/{chatId}",
  "GET /chats/{chatId}",
  "GET /chats",
  "POST /messages",
  "GET /messages",
  "GET /messages/{messageId}",
  "POST /subscriptions",
  "POST /answers",
  "GET /messages/{messageId}/comments",
  "POST /messages/{messageId}/comments",
  "PUT /messages/{messageId}/comments",
  "POST /chats/{chatId}/members",
  "Other operations",
  "Authentication",
  "Events",
  "Errors",
  "Limits",
  "Versioning"
] as const

export type Section = (typeof sections)[number]
