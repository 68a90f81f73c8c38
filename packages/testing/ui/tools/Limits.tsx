import { useEffect } from "preact/hooks"
import { readLimits } from "../events.ts"
import { Gauge } from "../parts/Gauge.tsx"
import { durationOf, preciseTime } from "../parts/format.ts"
import { CountedHeading, FlatRow } from "../parts/rows.tsx"
import { chats, limits, nameOf, requests, titleOf } from "../store.ts"

const names = {
  host: "All requests",
  messages: "Messages in a chat",
  answers: "Answers in a chat",
  polling: "GET /updates"
} as const

const noteOf = (used: number, limit: number, free: number): string =>
  used >= limit ? `The next one is answered with 429 for ${durationOf(free)}` : `${limit - used} more are admitted now`

/** The usage of each limit, and the refused requests. */
export const LimitGauges = () => {
  useEffect(() => void readLimits().catch(() => undefined), [])
  const view = limits.value
  if (view === undefined) return <p class="empty">Reading…</p>
  const refused = requests.value.filter(({ status }) => status === 429)
  if (view.limits === null)
    return <p class="empty">The emulator enforces no limits: start it without --lenient or --limits off.</p>
  const { window_ms, ...rates } = view.limits
  return (
    <>
      <p class="note">
        {rates.host} requests, {rates.messages} messages and {rates.answers} answers in each chat, and {rates.polling}{" "}
        polls in {durationOf(window_ms)}.
      </p>
      {view.used.length === 0 ? (
        <Gauge label={names.host} used={0} limit={rates.host} note={noteOf(0, rates.host, 0)} />
      ) : null}
      {view.used.map(({ bot_id, chat_id, free_in_ms, limit, scope, used }) => {
        const chat = chat_id === undefined ? undefined : chats.value.get(chat_id)
        const where = chat === undefined ? nameOf(bot_id) : titleOf(chat, bot_id)
        return (
          <Gauge
            key={`${scope} ${bot_id} ${chat_id}`}
            label={`${names[scope]}: ${where}`}
            used={used}
            limit={limit}
            note={noteOf(used, limit, free_in_ms)}
          />
        )
      })}
      <CountedHeading title="Refused" count={refused.length} />
      <ol class="log">
        {refused.slice(0, 50).map((event) => (
          <FlatRow
            key={event.id}
            status="429"
            kind="warn"
            title={event.endpoint}
            line={
              event.limits
                .filter(({ limit, used }) => used >= limit)
                .map(({ scope }) => names[scope])
                .join(", ") || "a fault"
            }
            aside={preciseTime(event.at)}
          />
        ))}
      </ol>
    </>
  )
}
