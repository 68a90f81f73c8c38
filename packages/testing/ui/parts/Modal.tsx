import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { IconButton } from "./Button.tsx"

interface Props {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A dialog. Escape or a click outside closes the dialog, and the focus returns to the previous element. */
export const Modal = ({ children, onClose, title }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    dialog.current?.querySelector<HTMLElement>(".form input, .form select, .primary")?.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="modal"
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div class="modal-head">
        <h2>{title}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      {children}
    </dialog>
  )
}
