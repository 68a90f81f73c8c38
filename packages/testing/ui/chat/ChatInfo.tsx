import { useState } from "preact/hooks"
import { Button, Submit } from "../parts/Button.tsx"
import { Avatar } from "../parts/Avatar.tsx"
import { CardText } from "../parts/CardText.tsx"
import { Check, Choice, Input, valuesOf } from "../parts/Field.tsx"
import { Modal } from "../parts/Modal.tsx"
import { act, bots, isChatMember, nameOf, namesOf, people, type Seen, titleOf } from "../store.ts"
import type { ChatView } from "../types.ts"

/** The rights of administrators, as the API document names them. */
export const rights = [
  "read_all_messages",
  "add_remove_members",
  "add_admins",
  "change_chat_info",
  "pin_message",
  "edit_link",
  "write",
  "edit",
  "delete",
  "can_call",
  "view_stats"
] as const

type Member = ChatView["members"][number]

interface RightsProps {
  readonly member: Member
  readonly onSave: (permissions: ReadonlyArray<string> | undefined) => void
  readonly onClose: () => void
}

const RightsForm = ({ member, onClose, onSave }: RightsProps) => {
  const has = new Set<string>(member.is_admin === true ? (member.permissions ?? []) : [])
  return (
    <form
      class="form rights"
      onSubmit={(event) => {
        const chosen = rights.filter((right) => valuesOf(event)[right] === "on")
        onClose()
        onSave(chosen.length === 0 ? undefined : chosen)
      }}
    >
      <fieldset>
        <legend>Rights of {nameOf(member.user_id)}. Without rights: a plain member.</legend>
        {rights.map((right) => (
          <Check key={right} text={right} name={right} checked={has.has(right)} />
        ))}
      </fieldset>
      <div class="row">
        <Submit>Save</Submit>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  )
}

const roleOf = ({ is_admin, is_owner, permissions }: Member): string => {
  if (is_owner === true) return "owner"
  return is_admin === true ? `administrator: ${(permissions ?? []).join(", ")}` : "member"
}

/** The members of a chat, their rights, and the changes that a person can make. */
export const ChatInfo = ({ onClose, person, view }: Omit<Seen, "pane"> & { readonly onClose: () => void }) => {
  const [changed, setChanged] = useState<number | undefined>()
  const { chat, has_comments, is_closed, members } = view
  const { chat_id } = chat
  const ids = { user_id: person as never, chat_id }
  const isGroup = chat.type !== "dialog"
  const outside = people.value.filter(({ user }) => !isChatMember(view, user.user_id))
  const outsideBots = bots.value.filter(({ user }) => !isChatMember(view, user.user_id))
  const save = (member: Member, permissions: ReadonlyArray<string> | undefined) => {
    const rights = permissions === undefined ? {} : { permissions: permissions as never }
    return member.is_bot
      ? act("setBotAdmin", { ...ids, bot_id: member.user_id, ...rights })
      : act("setAdmin", { ...ids, member_id: member.user_id, ...rights })
  }
  return (
    <Modal title={titleOf(view, person)} onClose={onClose}>
      <p class="ids">
        chat_id {chat_id}, {chat.type}, {chat.status}
        {chat.link == null ? "" : `, ${chat.link}`}
      </p>
      {chat.description == null ? null : <bdi class="text">{chat.description}</bdi>}
      <ul class="members">
        {members.map((member) => (
          <li key={member.user_id}>
            <Avatar id={member.user_id} name={nameOf(member.user_id)} isBot={member.is_bot} small />
            <CardText name={nameOf(member.user_id)} note={roleOf(member)} />
            {isGroup && member.is_owner !== true && member.user_id !== person ? (
              <span class="row">
                <Button onClick={() => setChanged(member.user_id)}>Rights</Button>
                <Button
                  class="danger"
                  onClick={() =>
                    void (member.is_bot
                      ? act("removeBot", { ...ids, bot_id: member.user_id })
                      : act("removeMember", { ...ids, member_id: member.user_id }))
                  }
                >
                  Remove
                </Button>
              </span>
            ) : null}
            {changed === member.user_id ? (
              <RightsForm
                member={member}
                onClose={() => setChanged(undefined)}
                onSave={(permissions) => void save(member, permissions)}
              />
            ) : null}
          </li>
        ))}
      </ul>
      {isGroup ? (
        <>
          {outside.length + outsideBots.length === 0 ? null : (
            <form
              class="inline-form"
              onSubmit={(event) => {
                const id = Number(valuesOf(event)["member"])
                const isBot = outsideBots.some(({ user }) => user.user_id === id)
                void (isBot
                  ? act("addBot", { ...ids, bot_id: id as never })
                  : act("addMember", { ...ids, member_id: id as never }))
              }}
            >
              <Choice label="Add" name="member" options={namesOf([...outside, ...outsideBots])} />
              <button type="submit">Add</button>
            </form>
          )}
          <form
            class="inline-form"
            onSubmit={(event) => {
              const { title } = valuesOf(event)
              if (title !== undefined) void act("rename", { ...ids, title })
            }}
          >
            <Input label="Title" name="title" maxLength={200} value={chat.title ?? ""} />
            <button type="submit">Rename</button>
          </form>
          <div class="row">
            {chat.type === "channel" ? (
              <Button onClick={() => void act("allowComments", { chat_id, allowed: !has_comments })}>
                {has_comments ? "Disable comments" : "Enable comments"}
              </Button>
            ) : null}
            <Button class="danger" disabled={is_closed} onClick={() => void act("closeChat", { chat_id })}>
              {chat.type === "channel" ? "Archive the channel" : "Close the chat"}
            </Button>
          </div>
        </>
      ) : null}
    </Modal>
  )
}
