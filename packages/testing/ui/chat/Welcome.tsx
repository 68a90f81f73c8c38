import { Button, IconButton } from "../parts/Button.tsx"
import { Avatar } from "../parts/Avatar.tsx"
import { Field, Input, valuesOf } from "../parts/Field.tsx"
import { Icon } from "../parts/Icon.tsx"
import { readState } from "../events.ts"
import { act, becomePerson, bots, nameOf, openBot, openChat, type Pane, state } from "../store.ts"

/** Starts a bot, perhaps with the payload of a deep link. */
const start = async (pane: Pane, person: number, bot_id: number, payload?: string): Promise<void> => {
  const ids = { user_id: person as never, bot_id: bot_id as never }
  const chat = await act("start", { ...ids, ...(payload === undefined ? {} : { payload }) })
  if (chat === undefined) return
  await readState()
  openChat(pane, chat.chat_id)
}

/** The dialog with a bot before its start. */
const Start = ({ bot_id, pane, person }: { readonly bot_id: number; readonly pane: Pane; readonly person: number }) => {
  const name = nameOf(bot_id)
  const user = bots.value.find(({ user }) => user.user_id === bot_id)?.user
  return (
    <div class="welcome">
      <IconButton icon="back" class="quiet back" label="Back to the chats" onClick={() => openChat(pane, undefined)} />
      <Avatar id={bot_id} name={name} isBot />
      <h2>
        <bdi>{name}</bdi>
      </h2>
      {user?.description == null ? null : <bdi class="text">{user.description}</bdi>}
      <Button class="primary large" onClick={() => void start(pane, person, bot_id)}>
        Start
      </Button>
      <details>
        <summary>with a payload…</summary>
        <form class="form" onSubmit={(event) => void start(pane, person, bot_id, valuesOf(event)["payload"])}>
          <Field label="Payload of a deep link" hint="What follows ?start= in the link.">
            <input name="payload" maxLength={128} autocomplete="off" required />
          </Field>
          <button type="submit">Start with the payload</button>
        </form>
      </details>
    </div>
  )
}

const create = async (pane: Pane, event: Event): Promise<void> => {
  const user = await act("createUser", { first_name: valuesOf(event)["first_name"] ?? "You" })
  if (user === undefined) return
  const { bots } = await readState()
  becomePerson(pane, user.user_id)
  const [bot] = bots
  if (bot !== undefined && bots.length === 1) openBot(pane, bot.user.user_id)
}

/** Without a person, there is nobody who could talk to the bot. */
const FirstPerson = ({ pane }: { readonly pane: Pane }) => (
  <form class="welcome" onSubmit={(event) => void create(pane, event)}>
    <Icon name="person" />
    <Input label="Who talks to the bot?" name="first_name" value="Ann" required maxLength={64} autocomplete="off" />
    <button type="submit" class="primary large">
      Create the person
    </button>
  </form>
)

/** The content of a pane before a chat is open. */
export const Welcome = ({ pane, person }: { readonly pane: Pane; readonly person: number | undefined }) => {
  const bot_id = pane.starting.value
  if (state.value !== undefined && person === undefined) return <FirstPerson pane={pane} />
  if (bot_id !== undefined && person !== undefined) return <Start bot_id={bot_id} pane={pane} person={person} />
  return (
    <div class="welcome">
      <Icon name="chats" />
      <p>{state.value === undefined ? "Connecting…" : "Choose a chat."}</p>
    </div>
  )
}
