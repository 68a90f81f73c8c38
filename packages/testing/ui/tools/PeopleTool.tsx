import { useState } from "preact/hooks"
import { Button, Submit } from "../parts/Button.tsx"
import { ChatInfo } from "../chat/ChatInfo.tsx"
import { Avatar } from "../parts/Avatar.tsx"
import { Field, Input, Select, valuesOf } from "../parts/Field.tsx"
import { CountedHeading } from "../parts/rows.tsx"
import { act, activePane, becomePerson, botTitleOf, chats, nameOf, namesOf, panes, state, toast } from "../store.ts"
import { readState } from "../events.ts"

const currentPane = () => panes.value.find(({ id }) => id === activePane.value) ?? panes.value[0]

const createPerson = async (event: Event): Promise<void> => {
  const { first_name = "", last_name, locale, phone, username } = valuesOf(event)
  const form = event.currentTarget as HTMLFormElement
  const optional = Object.entries({ last_name, locale, phone, username }).filter(([, value]) => value !== undefined)
  const user = await act("createUser", { first_name, ...Object.fromEntries(optional) })
  if (user === undefined) return
  form.reset()
  await readState()
  const pane = currentPane()
  if (pane !== undefined) becomePerson(pane, user.user_id)
  toast(`You are ${nameOf(user.user_id)}`)
}

const NewPerson = () => (
  <form class="form" onSubmit={(event) => void createPerson(event)}>
    <Input label="First name" name="first_name" required maxLength={64} autocomplete="off" />
    <details>
      <summary>More</summary>
      <Input label="Last name" name="last_name" maxLength={64} autocomplete="off" />
      <Input label="Username" name="username" autocomplete="off" />
      <Input label="Phone number" name="phone" pattern="\+?[0-9]{3,15}" autocomplete="off" />
      <Input label="Locale" name="locale" placeholder="en" autocomplete="off" />
    </details>
    <Submit>Create the person</Submit>
  </form>
)

const createChat = async (event: Event): Promise<void> => {
  const form = event.currentTarget as HTMLFormElement
  const values = valuesOf(event)
  const ids = (state.value?.people ?? []).map(({ user }) => user.user_id)
  const owner = Number(values["owner"])
  const chat = await act("createChat", {
    type: values["type"] === "channel" ? "channel" : "chat",
    title: values["title"] ?? "Chat",
    owner_id: owner as never,
    members: ids.filter((id) => id !== owner && values[`member-${id}`] === "on"),
    bot: values["bot"] === "none" ? false : { admin: values["bot"] === "admin" },
    is_public: values["is_public"] === "on"
  })
  if (chat === undefined) return
  form.reset()
  await readState()
  toast(`${chat.title ?? "The chat"} is created`)
}

const kinds = [
  ["chat", "Group chat"],
  ["channel", "Channel"]
] as const

const botRoles = [
  ["member", "member"],
  ["admin", "administrator with all rights"],
  ["none", "not in the chat"]
] as const

const NewChat = () => {
  const people = state.value?.people ?? []
  const bots = state.value?.bots ?? []
  return (
    <form class="form" onSubmit={(event) => void createChat(event)}>
      <Field label="Kind">
        <Select name="type" options={kinds} />
      </Field>
      <Input label="Title" name="title" required maxLength={200} autocomplete="off" />
      <Field label="Owner">
        <Select name="owner" required options={namesOf(people)} />
      </Field>
      <fieldset>
        <legend>Members</legend>
        {people.map(({ user }) => (
          <label class="check" key={user.user_id}>
            <input type="checkbox" name={`member-${user.user_id}`} checked /> <bdi>{nameOf(user.user_id)}</bdi>
          </label>
        ))}
      </fieldset>
      <Field label={bots.length > 1 ? `Bot ${nameOf(bots[0]?.user.user_id)}` : "Bot"}>
        <Select name="bot" options={botRoles} />
      </Field>
      <label class="check">
        <input type="checkbox" name="is_public" /> public, with a link
      </label>
      <Submit disabled={people.length === 0}>Create the chat</Submit>
    </form>
  )
}

/** The people and the chats, and forms that create more. */
export const PeopleTool = () => {
  const [opened, setOpened] = useState<number | undefined>()
  const view = opened === undefined ? undefined : chats.value.get(opened)
  const pane = currentPane()
  const owner = view?.members.find(({ is_owner }) => is_owner)?.user_id
  const person = pane?.person.value
  const isMember = view?.members.some(({ user_id }) => user_id === person) === true
  return (
    <>
      <CountedHeading title="People" count={state.value?.people.length ?? 0} />
      <ul class="members">
        {state.value?.people.map(({ locale, phone, user }) => (
          <li key={user.user_id}>
            <Avatar id={user.user_id} name={nameOf(user.user_id)} small />
            <span class="card-text">
              <bdi class="file-name">{nameOf(user.user_id)}</bdi>
              <small>
                {user.user_id}, {phone}
                {locale === undefined ? "" : `, ${locale}`}
              </small>
            </span>
            <Button onClick={() => pane !== undefined && becomePerson(pane, user.user_id)}>Be them</Button>
          </li>
        ))}
      </ul>
      <details class="box">
        <summary>New person</summary>
        <NewPerson />
      </details>
      <CountedHeading title="Chats" count={chats.value.size} />
      <ul class="members">
        {[...chats.value.values()].map((each) => (
          <li key={each.chat.chat_id}>
            <span class="card-text">
              <bdi class="file-name">{botTitleOf(each)}</bdi>
              <small>
                {each.chat.type} {each.chat.chat_id}
              </small>
            </span>
            <Button onClick={() => setOpened(each.chat.chat_id)}>Rights</Button>
          </li>
        ))}
      </ul>
      <details class="box">
        <summary>New group or channel</summary>
        <NewChat />
      </details>
      {view === undefined || (person ?? owner) === undefined ? null : (
        <ChatInfo view={view} person={isMember ? person! : (owner ?? person!)} onClose={() => setOpened(undefined)} />
      )}
    </>
  )
}
