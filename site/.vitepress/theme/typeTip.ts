/** Shows the type of a name in the code of a page, while the pointer is on the name or after a tap. */
export const followTypes = (): void => {
  const tip = document.createElement("pre")
  tip.className = "type-tip"
  tip.setAttribute("role", "tooltip")
  tip.hidden = true

  const show = ({ target }: Event): void => {
    const name = target instanceof Element ? target.closest<HTMLElement>("[data-type]") : null
    tip.hidden = name === null
    if (name === null) return
    if (!tip.isConnected) document.body.append(tip)
    tip.textContent = name.dataset["type"]!
    const { bottom, left, top } = name.getBoundingClientRect()
    const { height, width } = tip.getBoundingClientRect()
    const isBelow = bottom + height + 8 < innerHeight
    tip.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`
    tip.style.top = `${isBelow ? bottom + 4 : Math.max(8, top - height - 4)}px`
  }

  document.addEventListener("pointerover", show)
  document.addEventListener("scroll", () => (tip.hidden = true), { capture: true, passive: true })
}
