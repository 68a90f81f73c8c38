import { useState } from "preact/hooks"
import { Button } from "../parts/Button.tsx"
import { testOf } from "../conversationTest.ts"
import { copyText } from "../parts/clipboard.ts"
import { Field, valuesOf } from "../parts/Field.tsx"
import { Modal } from "../parts/Modal.tsx"
import { act, people, state, titleOf, toast } from "../store.ts"
import { trailOf } from "../trail.ts"
import type { ChatView } from "../types.ts"

/** The path of a module from a folder, which are both addresses of files. */
export const relativePath = (folder: string, module: string): string => {
  const [from, to] = [folder.replace(/\/$/, "").split("/"), module.split("/")]
  let common = 0
  while (common < from.length && from[common] === to[common]) common++
  const rest = to.slice(common).map(decodeURIComponent).join("/")
  const up = "../".repeat(from.length - common)
  return up === "" ? `./${rest}` : `${up}${rest}`
}

/** The module of the bot as a test imports the module: by a path from the folder of the tests. */
const modulePath = (): string => {
  const { bot_module = null, test_folder = null } = state.value ?? {}
  if (bot_module === null || !bot_module.startsWith("file:")) return bot_module ?? "./bot.ts"
  return relativePath(test_folder ?? new URL("../test", bot_module).href, bot_module)
}

const save = async (name: string, text: string): Promise<void> => {
  const saved = await act("saveTest", { name, text })
  if (saved !== undefined) toast(`The test is saved as ${saved.path}`)
}

/** The conversation as a test that runs the bot on the emulator. */
export const CopyTest = ({ onClose, view }: { readonly view: ChatView; readonly onClose: () => void }) => {
  const [module, setModule] = useState(modulePath())
  const text = testOf({
    module,
    view,
    people: people.value,
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
      <div class="row">
        <Button class="primary" onClick={() => void copyText(text, "The test")}>
          Copy
        </Button>
        {state.value?.test_folder == null ? null : (
          <form class="inline-form" onSubmit={(event) => void save(valuesOf(event)["name"] ?? "conversation", text)}>
            <input name="name" aria-label="Name of the test" value="conversation" pattern="[\w\-]+" required />
            <button type="submit">
              Save into {decodeURIComponent(state.value.test_folder.split("/").at(-1) ?? "")}/
            </button>
          </form>
        )}
      </div>
    </Modal>
  )
}
