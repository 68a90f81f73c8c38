import type { ComponentType } from "preact"

interface Props<K extends string> {
  readonly label: string
  readonly tabs: ReadonlyArray<{ readonly name: K; readonly label: string; readonly view: ComponentType }>
  readonly current: K
  readonly panel: string
  readonly onChange: (name: K) => void
}

/** A list of tabs, in which the arrow keys move, and the view of the chosen tab in a panel with the id of `panel`. */
export const Tabs = <K extends string>({ current, label, onChange, panel, tabs }: Props<K>) => {
  const index = tabs.findIndex(({ name }) => name === current)
  const { label: title, view: View } = tabs[index]
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const { name } = tabs[(index + step + tabs.length) % tabs.length]
    onChange(name)
    event.preventDefault()
    document.getElementById(`tab-${name}`)?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ label, name }) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === current}
            aria-controls={panel}
            tabIndex={name === current ? 0 : -1}
            onClick={() => onChange(name)}
          >
            {label}
          </button>
        ))}
      </div>
      <div key={current} class="tool" id={panel} role="tabpanel" aria-label={title} tabIndex={0}>
        <h2 class="spoken">{title}</h2>
        <View />
      </div>
    </>
  )
}
