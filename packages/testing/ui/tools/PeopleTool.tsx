import { useState } from "preact/hooks"
import { Button, Submit } from "../parts/Button.tsx"
import { ChatInfo } from "../chat/ChatInfo.tsx"
import { Avatar } from "../parts/Avatar.tsx"
import { CardText } from "../parts/CardText.tsx"
import { Check, Choice, Input, valuesOf } from "../parts/Field.tsx"
import { CountedHeading } from "../parts/rows.tsx"
import { act, becomePerson, bots, botTitleOf, chats, currentPane, nameOf, namesOf, people, toast } from "../store.ts"
import { readState } from "../events.ts"

const createPerson = async (event: Event): Promise<void> => {
  const form = event.currentTarget as HTMLFormElement
  const user = await act("createUser", { first_name: "", ...valuesOf(event) })
  if (user === undefined) return
  form.reset()
  await readState()
  becomePerson(currentPane(), user.user_id)
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
  const ids = people.value.map(({ user }) => user.user_id)
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

const NewChat = () => (
  <form class="form" onSubmit={(event) => void createChat(event)}>
    <Choice label="Kind" name="type" options={kinds} />
    <Input label="Title" name="title" required maxLength={200} autocomplete="off" />
    <Choice label="Owner" name="owner" required options={namesOf(people.value)} />
    <fieldset>
      <legend>Members</legend>
      {people.value.map(({ user }) => (
        <Check key={user.user_id} name={`member-${user.user_id}`} checked text={<bdi>{nameOf(user.user_id)}</bdi>} />
      ))}
    </fieldset>
    <Choice
      label={bots.value.length > 1 ? `Bot ${nameOf(bots.value[0]?.user.user_id)}` : "Bot"}
      name="bot"
      options={botRoles}
    />
    <Check text="public, with a link" name="is_public" />
    <Submit disabled={people.value.length === 0}>Create the chat</Submit>
  </form>
)

/** The people and the chats, and forms that create more. */
export const PeopleTool = () => {
  const [opened, setOpened] = useState<number | undefined>()
  const view = opened === undefined ? undefined : chats.value.get(opened)
  const pane = currentPane()
  const owner = view?.members.find(({ is_owner }) => is_owner)?.user_id
  const person = pane.person.value
  const isMember = view?.members.some(({ user_id }) => user_id === person) === true
  return (
    <>
      <CountedHeading title="People" count={people.value.length} />
      <ul class="members">
        {people.value.map(({ locale, phone, user }) => (
          <li key={user.user_id}>
            <Avatar id={user.user_id} name={nameOf(user.user_id)} small />
            <CardText
              name={nameOf(user.user_id)}
              note={`${user.user_id}, ${phone}${locale === undefined ? "" : `, ${locale}`}`}
            />
            <Button onClick={() => becomePerson(pane, user.user_id)}>Be them</Button>
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
            <CardText name={botTitleOf(each)} note={`${each.chat.type} ${each.chat.chat_id}`} />
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
