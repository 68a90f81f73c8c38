/**
 * Where the API document says "not shown", this is what Colloquy believes. Grades: A several independent sources or
 * captured traffic, B one good source, C one weak source. `docs/assumptions.md` is generated from these notes and from
 * every other `@assumption` in the sources.
 */

/** @assumption A These attachments must be the only one of a message, apart from a keyboard. */
export const soleAttachments: ReadonlyArray<string> = ["audio", "file", "contact", "sticker"]

/** @assumption A GET /updates: 1 to 1000 updates for a call, 100 unless told; waits 0 to 90 seconds, 30 unless told. */
export const pollingLimits = { count: 1000, defaultCount: 100, seconds: 90, defaultSeconds: 30 }

/** @assumption A GET /updates may be called twice a second. */
export const pollingPerSecond = 2

/** @assumption A GET /chats/{chatId}/members: 1 to 100 members for a call, 20 unless told. */
export const membersLimits = { count: 100, defaultCount: 20 }

/** @assumption A A chat has at most 50 administrators. */
export const adminsLimit = 50

/** @assumption A PATCH /me/commands: at most 32 commands, names of 1 to 64 and descriptions of 1 to 128 characters. */
export const commandLimits = { commands: 32, name: 64, description: 128 }

/** @assumption B The deep link's payload of `bot_started` has at most 128 characters. */
export const startPayloadLimit = 128

/** @assumption A What POST /chats/{chatId}/actions takes. */
export const senderActions = [
  "typing_on",
  "sending_photo",
  "sending_video",
  "sending_audio",
  "sending_file",
  "mark_seen"
] as const
