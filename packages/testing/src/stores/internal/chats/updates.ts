/** The updates of the cases. */
import { ChatId } from "@colloquy/core/model/Chat"
import type * as Update from "@colloquy/core/model/Update"
import * as Fixtures from "../../../bot/Fixtures.ts"

export const at = (seconds: number) => Fixtures.timestamp + seconds * 1000

export const chat_id = Fixtures.groupId

export const { user_id, first_name, is_bot } = Fixtures.user()

export const user = { user_id, first_name, is_bot }

const ofBot =
  (update_type: "bot_added" | "bot_removed") =>
  (seconds: number, id = chat_id): Update.Of<"bot_added" | "bot_removed"> => ({
    update_type,
    timestamp: at(seconds),
    chat_id: id,
    user: Fixtures.user(),
    is_channel: false
  })

export const added = ofBot("bot_added")

export const removed = ofBot("bot_removed")

export const titled = (seconds: number, title: string, id = chat_id): Update.Update => ({
  update_type: "chat_title_changed",
  timestamp: at(seconds),
  chat_id: id,
  user: Fixtures.user(),
  title
})

export const appointed = (seconds: number, permissions: ReadonlyArray<string>, id = chat_id): Update.Update => ({
  update_type: "bot_admin_permissions_changed",
  timestamp: at(seconds),
  chat_id: id,
  user_id,
  bot_id: Fixtures.botId,
  is_channel: false,
  is_admin: true,
  permissions
})

export const inDialog = (
  update_type: "bot_started" | "bot_stopped" | "dialog_removed" | "dialog_cleared" | "dialog_muted" | "dialog_unmuted",
  seconds: number,
  id = Fixtures.dialogId
): Update.Update => ({ update_type, timestamp: at(seconds), chat_id: id, user: Fixtures.user() })

export const idOf = (index: number): ChatId => ChatId.make(index)

/** Number of chats that need several pages. */
export const total = 1_203
