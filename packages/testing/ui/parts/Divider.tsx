import { type SizeName, sizes } from "../sizes.ts"

/** The limits of each width. `usual` is the assumed width before the first change. */
const bounds = {
  sidebar: { min: 140, max: 480, usual: 260, step: 16 },
  tools: { min: 280, max: 900, usual: 380, step: 16 },
  split: { min: 20, max: 80, usual: 50, step: 2 }
}

/** The width of a part if its edge is at a horizontal position. */
const widthAt = (name: SizeName, x: number, { left, right, width }: DOMRect): number =>
  name === "tools" ? right - x : name === "sidebar" ? x - left : ((x - left) / width) * 100

/** The edge of a part, which the pointer or the arrow keys move. A double click restores the usual width. */
export const Divider = ({ label, name }: { readonly name: SizeName; readonly label: string }) => {
  const { max, min, step, usual } = bounds[name]
  const current = sizes.value[name] ?? usual
  const set = (size: number) => {
    sizes.value = { ...sizes.value, [name]: Math.round(Math.min(max, Math.max(min, size))) }
  }
  return (
    <div
      class={`divider of-${name}`}
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuemin={min}
      aria-valuemax={max}
      aria-valuenow={current}
      tabIndex={0}
      onDblClick={() => {
        const { [name]: _, ...rest } = sizes.value
        sizes.value = rest
      }}
      onKeyDown={(event) => {
        const outward = name === "tools" ? -step : step
        const size = { ArrowRight: current + outward, ArrowLeft: current - outward, Home: min, End: max }[event.key]
        if (size === undefined) return
        event.preventDefault()
        set(size)
      }}
      onPointerDown={(event) => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={(event) => {
        const box = event.currentTarget.parentElement?.getBoundingClientRect()
        if (event.currentTarget.hasPointerCapture(event.pointerId) && box !== undefined)
          set(widthAt(name, event.clientX, box))
      }}
    />
  )
}
