import { actions } from "../store.ts"
import type { ChatView } from "../types.ts"

const texts: Readonly<Record<string, string>> = {
  typing_on: "typing",
  sending_photo: "sending a photo",
  sending_video: "sending a video",
  sending_audio: "sending audio",
  sending_file: "sending a file"
}

/** The current action of a bot in a chat, such as typing. */
export const actionOf = ({ chat }: ChatView): string | undefined => {
  const action = actions.value.get(chat.chat_id)?.action
  return action === undefined ? undefined : (texts[action] ?? action)
}
