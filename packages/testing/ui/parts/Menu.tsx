import { useEffect, useLayoutEffect, useRef } from "preact/hooks"

export interface MenuItem {
  readonly label: string
  readonly run: () => void
  readonly isDangerous?: boolean
}

/** The free space around a menu, in pixels. */
const margin = 8

/** Places the menu of a message inside of the list: above or below its button, on the side with more space. */
const fit = (menu: HTMLElement): void => {
  const frame = menu.closest(".messages")?.getBoundingClientRect()
  if (frame === undefined) return
  const anchor = menu.parentElement!.getBoundingClientRect()
  const { height, left, right } = menu.getBoundingClientRect()
  const [above, below] = [anchor.top - frame.top - margin, frame.bottom - anchor.bottom - margin]
  const isBelow = above < height && below > above
  menu.classList.toggle("below", isBelow)
  menu.style.maxHeight = `${Math.max(0, isBelow ? below : above)}px`
  const shift = Math.max(frame.left + margin - left, 0) || Math.min(frame.right - margin - right, 0)
  menu.style.translate = `${shift}px`
}

interface Props {
  readonly label: string
  readonly items: ReadonlyArray<MenuItem>
  readonly onClose: () => void
}

/** A list of commands. The arrow keys move, Escape closes. */
export const Menu = ({ items, label, onClose }: Props) => {
  const menu = useRef<HTMLDivElement>(null)
  const before = useRef(document.activeElement)
  const restore = () => {
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus()
  }
  // The focus moves before the menu is painted, so that a later choice of the user keeps the focus.
  useLayoutEffect(() => {
    fit(menu.current!)
    menu.current?.querySelector("button")?.focus()
    menu.current?.scrollIntoView({ block: "nearest" })
  }, [])
  useEffect(() => {
    const closeOutside = (event: Event) => {
      if (!menu.current?.contains(event.target as Node)) onClose()
    }
    document.addEventListener("pointerdown", closeOutside)
    return () => document.removeEventListener("pointerdown", closeOutside)
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...(menu.current?.querySelectorAll("button") ?? [])]
    const index = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const move = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: buttons.length - 1 }[event.key]
    if (event.key === "Escape" || event.key === "Tab") {
      restore()
      onClose()
    } else if (move === undefined) return
    else buttons[(move + buttons.length) % buttons.length]?.focus()
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div class="menu" role="menu" aria-label={label} ref={menu} onKeyDown={onKeyDown}>
      {items.map(({ isDangerous, label, run }) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          class={isDangerous ? "danger" : ""}
          onClick={() => {
            restore()
            onClose()
            run()
          }}
        >
          {label}
        </button>
      ))}
    </div>
  )
}
