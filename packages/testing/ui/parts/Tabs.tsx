/** A list of tabs, in which the arrow keys move. The panel has the id of `panel`. */
export const Tabs = <K extends string>({
  current,
  label,
  onChange,
  panel,
  tabs
}: {
  readonly label: string
  readonly tabs: ReadonlyArray<{ readonly name: K; readonly label: string }>
  readonly current: K
  readonly panel: string
  readonly onChange: (name: K) => void
}) => {
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const index = tabs.findIndex(({ name }) => name === current)
    const { name } = tabs[(index + step + tabs.length) % tabs.length]!
    onChange(name)
    event.preventDefault()
    document.getElementById(`tab-${name}`)?.focus()
  }
  return (
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
  )
}
