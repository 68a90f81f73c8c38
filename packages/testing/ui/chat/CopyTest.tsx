import { useState } from "preact/hooks"
import { testOf } from "../conversationTest.ts"
import { copyText } from "../parts/clipboard.ts"
import { Field } from "../parts/Field.tsx"
import { Modal } from "../parts/Modal.tsx"
import { state, titleOf } from "../store.ts"
import { trailOf } from "../trail.ts"
import type { ChatView } from "../types.ts"

/** The conversation as a test that runs the bot on the emulator. */
export const CopyTest = ({ onClose, view }: { readonly view: ChatView; readonly onClose: () => void }) => {
  const [module, setModule] = useState(state.value?.bot_module ?? "./bot.ts")
  const text = testOf({
    module,
    view,
    people: state.value?.people ?? [],
    events: trailOf(view.chat.chat_id),
    title: `the conversation with ${titleOf(view, undefined)}`
  })
  return (
    <Modal title="Copy as test" onClose={onClose}>
      <Field label="Module of the bot" hint="Its export named bot is the bot, as in the modules of npm start.">
        <input value={module} onInput={({ currentTarget }) => setModule(currentTarget.value)} />
      </Field>
      <pre class="code" tabIndex={0}>
        {text}
      </pre>
      <button type="button" class="primary" onClick={() => void copyText(text, "The test")}>
        Copy
      </button>
    </Modal>
  )
}
