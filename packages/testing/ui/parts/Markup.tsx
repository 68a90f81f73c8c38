import type { MarkupElement } from "@colloquy/core/model/Markup"
import type { VNode } from "preact"
import { act, nameOf, openBot, openTool, type Pane, bots, users } from "../store.ts"
import { safeUrl } from "./format.ts"
import { nest } from "./spans.ts"

/** A text, or a text with markup of its own. */
type Content = VNode | string | ReadonlyArray<VNode | string>

const Link = ({ href, text }: { readonly href: string; readonly text: Content }) => (
  <a href={href} title={href} target="_blank" rel="noopener noreferrer">
    {text}
  </a>
)

/** A bot opens its dialog, a person the list of people. */
const openUser = (pane: Pane, user_id: number): void =>
  bots.value.some(({ user }) => user.user_id === user_id) ? openBot(pane, user_id) : openTool("people")

interface MentionProps {
  readonly pane: Pane
  readonly user_id: number
  readonly text: Content
}

const Mention = ({ pane, text, user_id }: MentionProps) => (
  <button type="button" class="mention" title={nameOf(user_id)} onClick={() => openUser(pane, user_id)}>
    {text}
  </button>
)

const send = (pane: Pane, text: string): void => {
  const [user_id, chat_id] = [pane.person.value, pane.chat.value]
  if (user_id !== undefined && chat_id !== undefined)
    void act("sendMessage", { user_id: user_id as never, chat_id: chat_id as never, text })
}

const userNamed = (name: string): number | undefined =>
  [...users.value.values()].find(({ username }) => username?.toLowerCase() === name.toLowerCase())?.user_id

/** Web addresses, commands and names in a plain text. */
const active =
  /(https?:\/\/[^\s<>"]*[^\s<>".,:;!?'()[\]{}])|(?<![\w/@.-])(?:(\/[a-z][\w-]{0,63})(?![\w/])|@([a-z]\w{2,63}))/gi

/** A plain text whose links, commands and names work. A press of a command sends the command. */
const activeText = (text: string, pane: Pane): VNode | string => {
  const parts: Array<VNode | string> = []
  let from = 0
  for (const { 0: whole, 1: url, 2: command, 3: name, index } of text.matchAll(active)) {
    const href = safeUrl(url)
    const user_id = name === undefined ? undefined : userNamed(name)
    if (href === undefined && command === undefined && user_id === undefined) continue
    parts.push(text.slice(from, index))
    if (href !== undefined) parts.push(<Link key={index} href={href} text={whole} />)
    else if (user_id !== undefined) parts.push(<Mention key={index} pane={pane} user_id={user_id} text={whole} />)
    else
      parts.push(
        <button key={index} type="button" class="mention" title="Sends the command" onClick={() => send(pane, whole)}>
          {whole}
        </button>
      )
    from = index + whole.length
  }
  return from === 0 ? text : <span key={text}>{[...parts, text.slice(from)]}</span>
}

/** The tags of the elements that only have a style of their own. */
const tags = new Map<MarkupElement["type"], "strong" | "em" | "s" | "u" | "mark">([
  ["strong", "strong"],
  ["emphasized", "em"],
  ["strikethrough", "s"],
  ["underline", "u"],
  ["highlighted", "mark"]
])

/** The elements in which a text stays as it is. */
const isFixed = ({ type }: MarkupElement): boolean =>
  type === "link" || type === "monospaced" || type === "user_mention"

/** The classes of the elements that have no tag of their own, also of links and mentions that lead nowhere. */
const classes = new Map<MarkupElement["type"], string>([
  ["quote", "quote"],
  ["heading", "heading"],
  ["link", "dead-link"],
  ["user_mention", "mention"]
])

const wrapWith =
  (pane: Pane) =>
  (element: MarkupElement, key: string, children: ReadonlyArray<VNode | string>): VNode => {
    const { type } = element
    if (type === "monospaced")
      return (
        <code key={key} class={children.some((child) => String(child).includes("\n")) ? "block" : ""}>
          {children}
        </code>
      )
    if (type === "user_mention" && element.user_id != null)
      return <Mention key={key} pane={pane} user_id={element.user_id} text={children} />
    const href = type === "link" ? safeUrl(element.url) : undefined
    if (href !== undefined) return <Link key={key} href={href} text={children} />
    const Tag = tags.get(type) ?? "span"
    const title = type === "link" ? "This link is not opened: it is not a web address" : undefined
    return (
      <Tag key={key} class={classes.get(type)} title={title}>
        {children}
      </Tag>
    )
  }

interface MarkedProps {
  readonly text: string
  readonly markup: ReadonlyArray<MarkupElement> | null | undefined
  readonly pane: Pane
}

/** A text with its markup, as text nodes. */
export const Marked = ({ markup, pane, text }: MarkedProps) => (
  <bdi class="text">
    {nest<VNode | string>(
      text,
      markup,
      (leaf, inside) => (inside.some(isFixed) ? leaf : activeText(leaf, pane)),
      wrapWith(pane)
    )}
  </bdi>
)
