import type { Button } from "@colloquy/core/model/Keyboard"
import { copyText } from "../parts/clipboard.ts"
import { safeUrl } from "../parts/format.ts"
import { Icon } from "../parts/Icon.tsx"
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
  clipboard: "copies a text",
  link: "opens a link"
}

const press = async ({ mid, user_id }: Target, row: number, column: number): Promise<void> => {
  if (user_id === undefined) return
  await act("press", { user_id: user_id as never, message_id: mid as never, button: [row, column] })
}

const OneButton = ({
  button,
  column,
  row,
  target
}: {
  readonly button: Button
  readonly row: number
  readonly column: number
  readonly target: Target
}) => {
  const isWaiting = [...pressed.value.values()].includes(`${target.mid} ${row} ${column}`)
  const text = "text" in button ? String(button.text) : `Button of the type ${String(button.type)}`
  const label = <bdi>{text}</bdi>
  const title = explain[button.type]
  switch (button.type) {
    case "link": {
      const href = safeUrl(button.url)
      if (href === undefined)
        return (
          <button type="button" class="key" disabled>
            {label}
          </button>
        )
      return (
        <a class="key" href={href} title={href} target="_blank" rel="noopener noreferrer">
          {label}
          <Icon name="link" />
        </a>
      )
    }
    case "clipboard":
      return (
        <button type="button" class="key" title={title} onClick={() => void copyText(button.payload, "The text")}>
          {label}
          <Icon name="copy" />
        </button>
      )
    case "open_app":
      return (
        <button
          type="button"
          class="key"
          title={title}
          onClick={() => {
            if (target.user_id !== undefined) void openMiniApp(target.user_id, target.mid, [row, column], text)
          }}
        >
          {label}
          <Icon name="split" />
        </button>
      )
    case "callback":
    case "message":
    case "request_contact":
    case "request_geo_location":
      return (
        <button
          type="button"
          class={isWaiting ? "key waiting" : "key"}
          title={title}
          aria-busy={isWaiting}
          onClick={() => void press(target, row, column)}
        >
          {label}
          {button.type === "request_contact" ? <Icon name="person" /> : null}
          {button.type === "request_geo_location" ? <Icon name="place" /> : null}
        </button>
      )
    default:
      return (
        <button type="button" class="key" disabled>
          {label}
        </button>
      )
  }
}

/** The buttons below a message. */
export const Keyboard = ({
  attachments,
  target
}: {
  readonly attachments: ReadonlyArray<Attachment>
  readonly target: Target
}) => {
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
