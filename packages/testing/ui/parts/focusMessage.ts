/** Scrolls to a message that is rendered, and moves the focus to the message. Returns whether the message is rendered. */
export const focusMessage = (mid: string, list: ParentNode | null = document): boolean => {
  const message = list?.querySelector<HTMLElement>(`[data-mid="${CSS.escape(mid)}"]`)
  message?.scrollIntoView({ block: "center" })
  message?.focus({ preventScroll: true })
  return message != null
}
