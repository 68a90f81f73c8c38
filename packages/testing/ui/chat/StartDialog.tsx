import { Field, valuesOf } from "../parts/Field.tsx"
import { Modal } from "../parts/Modal.tsx"
import { readState } from "../events.ts"
import { act, nameOf, openChat, type Pane } from "../store.ts"

/** Starts a bot, with the optional payload of a deep link. */
export const StartDialog = ({
  bot_id,
  pane,
  person
}: {
  readonly bot_id: number
  readonly pane: Pane
  readonly person: number
}) => {
  const close = () => {
    pane.starting.value = undefined
  }
  const start = async (event: Event): Promise<void> => {
    const { payload } = valuesOf(event)
    close()
    const ids = { user_id: person as never, bot_id: bot_id as never }
    const chat = await act("start", { ...ids, ...(payload === undefined ? {} : { payload }) })
    if (chat === undefined) return
    await readState()
    openChat(pane, chat.chat_id)
  }
  return (
    <Modal title={`Start ${nameOf(bot_id)}`} onClose={close}>
      <form class="form" onSubmit={(event) => void start(event)}>
        <Field
          label="Payload of a deep link"
          hint="What follows ?start= in the link. Empty: the bot is opened without a link."
        >
          <input name="payload" maxLength={128} autocomplete="off" />
        </Field>
        <button type="submit" class="primary">
          Start
        </button>
      </form>
    </Modal>
  )
}
