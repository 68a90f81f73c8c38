import type { Button } from "@colloquy/core/model/Keyboard"
import { copyText } from "../parts/clipboard.ts"
import { safeUrl } from "../parts/format.ts"
import { Icon, type IconName } from "../parts/Icon.tsx"
import { act, pressed } from "../store.ts"
import type { Attachment } from "../types.ts"
import { openMiniApp } from "./MiniApp.tsx"

interface Target {
  readonly mid: string
  readonly user_id: number
}

/** The kinds of buttons that work: the action of a press, and the icon. */
const kinds = new Map<Button["type"], { readonly title?: string; readonly icon?: IconName }>([
  ["callback", {}],
  ["request_contact", { title: "sends your contact", icon: "person" }],
  ["request_geo_location", { title: "sends your location", icon: "place" }],
  ["message", { title: "sends this text as your message" }],
  ["open_app", { title: "opens a mini app", icon: "split" }],
  ["clipboard", { title: "copies a text", icon: "copy" }],
  ["link", { icon: "link" }]
])

interface Props {
  readonly button: Button
  readonly row: number
  readonly column: number
  readonly target: Target
}

const press = ({ button, column, row, target: { mid, user_id } }: Props, text: string): void => {
  const request = { user_id: user_id as never, message_id: mid as never, button: [row, column] as const }
  if (button.type === "clipboard") void copyText(button.payload, "The text")
  else if (button.type === "open_app") void openMiniApp(request, text)
  else void act("press", request)
}

const OneButton = (props: Props) => {
  const { button, column, row, target } = props
  const text = "text" in button ? String(button.text) : `Button of the type ${String(button.type)}`
  const label = <bdi>{text}</bdi>
  const kind = kinds.get(button.type)
  const icon = kind?.icon === undefined ? null : <Icon name={kind.icon} />
  const href = button.type === "link" ? safeUrl(button.url) : undefined
  if (href !== undefined)
    return (
      <a class="key" href={href} title={href} target="_blank" rel="noopener noreferrer">
        {label}
        {icon}
      </a>
    )
  if (kind === undefined || button.type === "link")
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
      title={kind.title}
      aria-busy={isWaiting}
      onClick={() => press(props, text)}
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
