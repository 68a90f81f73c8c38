import { Button } from "../parts/Button.tsx"
import { durationOf } from "../parts/format.ts"
import { faultText } from "../parts/faultText.ts"
import { messageFilter, openTool, shownRule } from "../store.ts"
import type { RequestEvent } from "./activity.ts"

const statusClass = (status: number | null): string =>
  status === null ? "bad" : status < 300 ? "good" : status === 429 ? "warn" : "bad"

/** A request in one line: its status, endpoint, text and duration. */
export const RequestLine = ({ event }: { readonly event: RequestEvent }) => (
  <>
    <span class={`status ${statusClass(event.status)}`}>{event.status ?? "lost"}</span>
    <b>{event.endpoint ?? event.method}</b>
    <bdi class="path">{event.text === undefined ? (event.endpoint === null ? event.path : "") : `“${event.text}”`}</bdi>
    <small>{durationOf(event.took)}</small>
  </>
)

/** Leads from a request to the rule of the faults that was applied to the request. */
export const FaultMark = ({ event: { fault } }: { readonly event: RequestEvent }) =>
  fault === undefined ? null : (
    <button
      type="button"
      class="fault-mark"
      title={faultText(fault)}
      onClick={() => {
        shownRule.value = JSON.stringify(fault)
        openTool("faults")
      }}
    >
      fault
    </button>
  )

/** Ends the restriction of a tool to one message. */
export const OneMessage = () =>
  messageFilter.value === undefined ? null : (
    <Button onClick={() => (messageFilter.value = undefined)}>Of one message only ✕</Button>
  )
