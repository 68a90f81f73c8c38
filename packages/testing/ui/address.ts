import { effect } from "@preact/signals"
import { activePane, draftOf, makePane, type Pane, panes, tool, toolNames, view } from "./store.ts"

/** The name of a field of a pane: the fields of the second pane end with 2. */
const fieldOf = ({ id }: Pane, name: string): string => (id === 1 ? name : `${name}${id}`)

const writePane = (fields: URLSearchParams, pane: Pane): void => {
  const [person, chat] = [pane.person.value, pane.chat.value]
  if (person === undefined) return
  fields.set(fieldOf(pane, "person"), String(person))
  if (chat === undefined) return
  fields.set(fieldOf(pane, "chat"), String(chat))
  if (pane.post.value !== undefined) fields.set(fieldOf(pane, "post"), pane.post.value)
  const draft = draftOf(person, chat).value
  if (draft !== "") fields.set(fieldOf(pane, "draft"), draft)
}

const readPane = (fields: URLSearchParams, pane: Pane): void => {
  const [person, chat] = [Number(fields.get(fieldOf(pane, "person"))), Number(fields.get(fieldOf(pane, "chat")))]
  if (!Number.isSafeInteger(person) || person === 0) return
  pane.person.value = person
  if (!Number.isSafeInteger(chat) || chat === 0) return
  pane.chat.value = chat
  pane.takesFocus.value = true
  pane.post.value = fields.get(fieldOf(pane, "post")) ?? undefined
  draftOf(person, chat).value = fields.get(fieldOf(pane, "draft")) ?? ""
}

/** Restores the people, chats, drafts and the tool that the address of the page names. */
export const restoreAddress = (): void => {
  const fields = new URLSearchParams(location.hash.slice(1))
  const [first] = panes.value
  if (fields.size === 0) return
  if (fields.has("person2")) panes.value = [first, makePane(2)]
  for (const pane of panes.value) readPane(fields, pane)
  const named = fields.get("tool")
  tool.value = toolNames.find((name) => name === named)
  if (fields.get("view") === "tools") view.value = "tools"
  else if (first.chat.value !== undefined) view.value = "chat"
  activePane.value = first.id
}

/** Keeps the address of the page up to date, so that a reload or a bookmark shows the same. */
export const keepAddress = (): void => {
  effect(() => {
    const fields = new URLSearchParams()
    for (const pane of panes.value) writePane(fields, pane)
    if (tool.value !== undefined) fields.set("tool", tool.value)
    if (view.value === "tools") fields.set("view", "tools")
    history.replaceState(history.state, "", `#${fields}`)
  })
}
