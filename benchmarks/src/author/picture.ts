/** The picture of docs/performance.md: how long people wait for an answer. */
import type { Latency, Store } from "./expectations.ts"

const colors: Readonly<Record<Store, string>> = {
  memory: "#8b8f99",
  sqlite: "#2f7ed8",
  postgres: "#1f9d63",
  redis: "#d2452d"
}

const names: Readonly<Record<Store, string>> = {
  memory: "memory",
  sqlite: "SQLite",
  postgres: "PostgreSQL",
  redis: "Redis"
}

const [width, height, left, bottom, top] = [640, 300, 56, 44, 36]

/** Draws the 50th percentile as a full bar, and the 99th as a pale bar behind it, for each store and number of processes. */
export const draw = (latencies: ReadonlyArray<Latency>): string => {
  const largest = Math.max(...latencies.map(({ p99 }) => p99))
  const step = largest > 40 ? 20 : largest > 16 ? 5 : 2
  const ceiling = Math.ceil(largest / step) * step
  const y = (value: number) => height - bottom - (value / ceiling) * (height - bottom - top)
  const slot = (width - left - 8) / latencies.length
  const lines = Array.from({ length: ceiling / step + 1 }, (_, index) => index * step).map(
    (value) =>
      `<line class="line" x1="${left}" x2="${width - 8}" y1="${y(value)}" y2="${y(value)}"/>` +
      `<text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${value} ms</text>`
  )
  const bars = latencies.map(({ p50, p99, processes, store }, index) => {
    const x = left + slot * index
    const bar = (value: number, opacity: number) =>
      `<rect x="${(x + slot * 0.15).toFixed(1)}" width="${(slot * 0.7).toFixed(1)}" y="${y(value).toFixed(1)}" ` +
      `height="${(height - bottom - y(value)).toFixed(1)}" fill="${colors[store]}" opacity="${opacity}"/>`
    const label = `<text x="${(x + slot / 2).toFixed(1)}" y="${height - bottom + 16}" text-anchor="middle">${processes}</text>`
    const of = latencies.filter((latency) => latency.store === store)
    const name =
      of[0]!.processes === processes
        ? `<text x="${(x + (slot * of.length) / 2).toFixed(1)}" y="${height - 8}" text-anchor="middle">${names[store]}</text>`
        : ""
    return `<g><title>${names[store]}, ${processes}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms</title>${bar(p99, 0.35)}${bar(p50, 1)}</g>${label}${name}`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Latency of an answer">`,
    "<style>text{font:12px system-ui,sans-serif;fill:#333}.line{stroke:#ddd}",
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.line{stroke:#444}}</style>",
    `<text x="${left}" y="18">Latency at 30 messages a second, by the number of processes: p50 full, p99 pale</text>`,
    ...lines,
    ...bars,
    "</svg>",
    ""
  ].join("\n")
}

/** The rows of the table in docs/performance.md. */
export const rowsOf = (rates: ReadonlyMap<Store, number>, latencies: ReadonlyArray<Latency>): ReadonlyArray<string> =>
  [...rates].map(([store, rate]) => {
    const times = [1, 2, 4].map((processes) => {
      const found = latencies.find((latency) => latency.store === store && latency.processes === processes)
      return found === undefined ? "not shared" : `${found.p50.toFixed(1)} ms, ${found.p99.toFixed(1)} ms`
    })
    return `| ${names[store]} | ${Math.round(rate / 10) * 10} | ${times.join(" | ")} |`
  })
