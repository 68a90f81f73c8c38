import type { Button } from "@colloquy/core/model/Keyboard"
import { copyText } from "../parts/clipboard.ts"
import { safeUrl } from "../parts/format.ts"
import { Icon, type IconName } from "../parts/Icon.tsx"
import { act, pressed } from "../store.ts"
import type { Attachment } from "../types.ts"
import { openMiniApp } from "./MiniApp.tsx"

interface Target {
  readonly mid: string
  readonly user_id: number | undefined
}

const explain: Readonly<Record<string, string>> = {
  request_contact: "sends your contact",
  request_geo_location: "sends your location",
  message: "sends this text as your message",
  open_app: "opens a mini app",
  clipboard: "copies a text"
}

const icons: Readonly<Record<string, IconName>> = {
  request_contact: "person",
  request_geo_location: "place",
  open_app: "split",
  clipboard: "copy",
  link: "link"
}

interface Props {
  readonly button: Button
  readonly row: number
  readonly column: number
  readonly target: Target
}

/** What a press does, or `undefined` for a button that cannot be pressed. */
const pressOf = ({ button, column, row, target: { mid, user_id } }: Props, text: string): (() => void) | undefined => {
  switch (button.type) {
    case "clipboard":
      return () => void copyText(button.payload, "The text")
    case "open_app":
      return () => {
        if (user_id !== undefined) void openMiniApp(user_id, mid, [row, column], text)
      }
    case "callback":
    case "message":
    case "request_contact":
    case "request_geo_location":
      return () => {
        if (user_id !== undefined)
          void act("press", { user_id: user_id as never, message_id: mid as never, button: [row, column] })
      }
    default:
      return undefined
  }
}

const OneButton = (props: Props) => {
  const { button, column, row, target } = props
  const text = "text" in button ? String(button.text) : `Button of the type ${String(button.type)}`
  const label = <bdi>{text}</bdi>
  const name = icons[button.type]
  const icon = name === undefined ? null : <Icon name={name} />
  const href = button.type === "link" ? safeUrl(button.url) : undefined
  if (href !== undefined)
    return (
      <a class="key" href={href} title={href} target="_blank" rel="noopener noreferrer">
        {label}
        {icon}
      </a>
    )
  const onClick = pressOf(props, text)
  if (onClick === undefined)
    return (
      <button type="button" class="key" disabled>
        {label}
      </button>
    )
  const isWaiting = [...pressed.value.values()].includes(`${target.mid} ${row} ${column}`)
  return (
    <button
      type="button"
      class={isWaiting ? "key waiting" : "key"}
      title={explain[button.type]}
      aria-busy={isWaiting}
      onClick={onClick}
    >
      {label}
      {icon}
    </button>
  )
}

interface KeyboardProps {
  readonly attachments: ReadonlyArray<Attachment>
  readonly target: Target
}

/** The buttons below a message. */
export const Keyboard = ({ attachments, target }: KeyboardProps) => {
  const rows = attachments.flatMap((attachment) =>
    attachment.type === "inline_keyboard" ? (attachment.payload?.buttons ?? []) : []
  )
  if (rows.length === 0) return null
  return (
    <div class="keyboard" role="group" aria-label="Buttons of the message">
      {rows.map((row, y) => (
        <div class="key-row" key={y}>
          {row.map((button, x) => (
            <OneButton key={x} button={button} row={y} column={x} target={target} />
          ))}
        </div>
      ))}
    </div>
  )
}
