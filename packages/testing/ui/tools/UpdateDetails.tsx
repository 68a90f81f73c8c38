import * as Json from "@colloquy/core/base/Json"
import { useEffect, useState } from "preact/hooks"
import { Button } from "../parts/Button.tsx"
import { call } from "../api.ts"
import { copyText } from "../parts/clipboard.ts"
import { pretty } from "../parts/json.ts"
import { act, toast } from "../store.ts"
import type { UpdateEvent } from "./activity.ts"

const resend = async (bot_id: UpdateEvent["bot_id"], text: string): Promise<void> => {
  let update: unknown
  try {
    update = Json.parse(text)
  } catch {
    return toast("The update is not sent: the text is not JSON", "error")
  }
  if ((await act("deliverUpdate", { bot_id, update })) !== undefined) toast("The update is sent to the bot")
}

/** The JSON of an update, which can be changed and sent again. */
export const UpdateDetails = ({ event }: { readonly event: UpdateEvent }) => {
  const [text, setText] = useState<string | undefined>()
  useEffect(() => {
    void call("getEvent", { event_id: event.id }).then(
      (found) => setText(found.type === "update" ? pretty(found.update) : ""),
      () => setText("")
    )
  }, [event.id])
  if (text === undefined) return <p class="empty">Reading…</p>
  if (text === "") return <p class="empty">The emulator no longer keeps this update.</p>
  return (
    <div class="details">
      <textarea
        class="code"
        aria-label="JSON of the update"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div class="row">
        <Button onClick={() => void copyText(text, "The update")}>Copy</Button>
        <Button title="Sends the JSON above, also if it was changed" onClick={() => void resend(event.bot_id, text)}>
          Resend
        </Button>
      </div>
    </div>
  )
}
