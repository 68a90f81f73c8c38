import type { VNode } from "preact"
import { Button } from "../parts/Button.tsx"
import { durationOf } from "../parts/format.ts"
import { Gauge } from "../parts/Gauge.tsx"
import { FlatRow } from "../parts/rows.tsx"
import { act, useView, type Views } from "./client.ts"

type Status = Views["status"]

interface FactProps {
  readonly label: string
  readonly value: string
  readonly kind?: string
}

const Fact = ({ kind = "", label, value }: FactProps) => (
  <div class="fact">
    <dt>{label}</dt>
    <dd class={kind}>{value}</dd>
  </div>
)

const ago = (status: Status, at: number): string => `${durationOf(Math.max(0, status.at - at))} ago`

/** A view of the status. */
const viewOf = (show: (status: Status) => VNode) => () => {
  const { data, error } = useView("status")
  return data === undefined ? <p class="empty">{error ?? "Reading…"}</p> : show(data)
}

/** The current state of the bot. */
export const Overview = viewOf((status) => {
  const { dead_letters, log, oldest_age_ms, paused, processes, queued } = status
  return (
    <>
      <div class="row">
        <Button onClick={() => void act(paused ? "resume" : "pause")}>
          {paused ? "Resume the inbox" : "Pause the inbox"}
        </Button>
        {paused ? <b class="warn">The inbox is paused: updates are stored, and not handled.</b> : null}
      </div>
      <dl class="facts">
        <Fact label="Updates a second" value={String(status.updates_per_second)} />
        <Fact label="Queued" value={String(queued)} />
        <Fact
          label="Oldest update"
          value={oldest_age_ms === undefined ? "none" : ago(status, status.at - oldest_age_ms)}
        />
        <Fact label="Dead letters" value={String(dead_letters)} kind={dead_letters > 0 ? "bad" : "good"} />
      </dl>
      <h3>The last {log.entries} attempts to handle an update</h3>
      <dl class="facts">
        {Object.entries(log.outcomes).map(([outcome, count]) => (
          <Fact key={outcome} label={outcome} value={String(count)} />
        ))}
        {log.median_ms === undefined ? null : <Fact label="half within" value={`${log.median_ms} ms`} />}
        {log.p95_ms === undefined ? null : <Fact label="95 % within" value={`${log.p95_ms} ms`} />}
      </dl>
      <h3>Processes</h3>
      {processes.length === 0 ? (
        <p class="empty">No process has handled an update within the last hour.</p>
      ) : (
        <ol class="log">
          {processes.map((process) => (
            <FlatRow
              key={process.name}
              status={process.is_busy ? "busy" : "idle"}
              kind={process.is_busy ? "good" : ""}
              title={process.name}
              line={`${process.handled} handled, ${process.chats} chats${process.chats > 0 ? `: ${process.chats_named.join(" ")}` : ""}`}
              aside={`seen ${ago(status, process.at)}`}
            />
          ))}
        </ol>
      )}
    </>
  )
})

/** The running conversations by their questions. */
export const Conversations = viewOf(({ conversations, more_conversations }) => {
  if (conversations.length === 0) return <p class="empty">No conversation is running.</p>
  return (
    <>
      <ol class="log">
        {conversations.map(({ conversation, count, question }) => (
          <FlatRow
            key={`${conversation} ${question}`}
            title={conversation}
            line={`waits for ${question}`}
            aside={count}
          />
        ))}
      </ol>
      {more_conversations === true ? (
        <p class="note" role="status">
          There are more conversations. Only the first 10,000 are counted.
        </p>
      ) : null}
    </>
  )
})

/** The calls in a second and their limit, and the calls that wait. */
export const Limits = viewOf(({ calls_per_second, calls_per_second_limit, waiting_calls }) => {
  const waiting = Object.entries(waiting_calls).filter(([, count]) => count > 0)
  return (
    <>
      <Gauge
        label="Calls a second"
        used={calls_per_second}
        limit={calls_per_second_limit}
        note="of all processes that have handled an update within the last five seconds"
      />
      <h3>Waiting calls by priority</h3>
      {waiting.length === 0 ? <p class="empty">No call waits.</p> : null}
      <ul class="plain">
        {waiting.map(([priority, count]) => (
          <li key={priority}>
            {priority}: {count}
          </li>
        ))}
      </ul>
    </>
  )
})
