interface Props {
  readonly label: string
  readonly used: number
  readonly limit: number
  readonly note: string
}

/** How much of a limit is used. */
export const Gauge = ({ label, limit, note, used }: Props) => (
  <div class={used >= limit ? "gauge full" : "gauge"}>
    <span>
      <bdi>{label}</bdi>
      <b>
        {used} of {limit}
      </b>
    </span>
    <meter min={0} max={limit} high={limit - 0.5} value={used} aria-label={label} />
    <small>{note}</small>
  </div>
)
