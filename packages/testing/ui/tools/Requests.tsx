import { memo } from "preact/compat"
import { useState } from "preact/hooks"
import * as Json from "@colloquy/core/base/Json"
import { call } from "../api.ts"
import { copyText } from "../parts/clipboard.ts"
import { durationOf, preciseTime } from "../parts/format.ts"
import { openChat, panes, requestFilter, requests, view } from "../store.ts"
import type { EventOf, RequestView } from "../types.ts"
import { curlOf } from "./curl.ts"

type RequestEvent = EventOf<"request">

/** JSON with line breaks. Exact integers do not change. */
export const pretty = (value: unknown): string => {
  if (typeof value === "string") return value
  const compact = Json.stringify(value)
  // Only for display: integers that a double cannot hold are kept as text.
  const kept = compact.replaceAll(/([:[,])(-?\d{16,})(?=[,\]}])/g, '$1"\\u0000$2"')
  return JSON.stringify(JSON.parse(kept), null, 2).replaceAll(/"\\u0000(-?\d+)"/g, "$1")
}

const Body = ({ label, value }: { readonly label: string; readonly value: unknown }) =>
  value === null || value === undefined || value === "" ? null : (
    <>
      <h3>{label}</h3>
      <pre class="code" tabIndex={0}>
        {pretty(value)}
      </pre>
    </>
  )

/** The headers without the token. */
const shownHeaders = (headers: RequestView["headers"]): string =>
  Object.entries(headers)
    .filter(([name]) => name !== "authorization")
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n")

const Details = ({ event }: { readonly event: RequestEvent }) => {
  const [request, setRequest] = useState<RequestView | "missing" | undefined>()
  if (request === undefined) {
    void call("listRequests", { from: event.number, count: 1 }).then(
      ({ requests: [found] }) => setRequest(found?.number === event.number ? found : "missing"),
      () => setRequest("missing")
    )
    return <p class="empty">Reading…</p>
  }
  if (request === "missing") return <p class="empty">The emulator no longer keeps this request.</p>
  return (
    <div class="details">
      <Body label="Headers, without the token" value={shownHeaders(request.headers)} />
      <Body label="Body" value={request.body} />
      <Body label="Answer" value={request.answer} />
      <div class="row">
        <button type="button" onClick={() => void copyText(curlOf(request, location.origin), "The command")}>
          Copy as curl
        </button>
        <button type="button" onClick={() => void copyText(pretty(request.answer), "The answer")}>
          Copy the answer
        </button>
      </div>
    </div>
  )
}

/** Shows the message that a request created or changed. */
const showMessage = ({ chat_id, message_id }: RequestEvent): void => {
  const [pane] = panes.value
  if (chat_id !== undefined && pane !== undefined && pane.chat.value !== chat_id) openChat(pane, chat_id)
  view.value = "chat"
  const find = (tries: number): void => {
    const found = document.querySelector<HTMLElement>(`[data-mid="${CSS.escape(message_id ?? "")}"]`)
    if (found === null && tries > 0) return void setTimeout(() => find(tries - 1), 50)
    found?.scrollIntoView({ block: "center" })
    found?.focus({ preventScroll: true })
  }
  find(20)
}

const statusClass = (status: number | null): string =>
  status === null ? "bad" : status < 300 ? "good" : status === 429 ? "warn" : "bad"

const Row_ = ({ event }: { readonly event: RequestEvent }) => {
  const [isOpen, setOpen] = useState(false)
  const full = event.limits.find(({ limit, used }) => used >= limit)
  return (
    <li class="log-row">
      <button type="button" class="log-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class={`status ${statusClass(event.status)}`}>{event.status ?? "lost"}</span>
        <span class="log-text">
          <b>{event.endpoint ?? event.method}</b>
          <bdi class="path">
            {event.method} {event.path}
            {event.query}
          </bdi>
        </span>
        <small>
          {preciseTime(event.at)}
          <br />
          {durationOf(event.took)}
          {full === undefined ? "" : `, ${full.scope} ${full.used}/${full.limit}`}
        </small>
      </button>
      {event.message_id === undefined ? null : (
        <button type="button" class="link-button" onClick={() => showMessage(event)}>
          Show the message
        </button>
      )}
      {isOpen ? <Details event={event} /> : null}
    </li>
  )
}

/** A new request renders only its own row. */
const Row = memo(Row_)

/** The requests of bots, the newest first. */
export const Requests = () => {
  const [showsPolls, setShowsPolls] = useState(false)
  const filter = requestFilter.value
  const shown = requests.value.filter(
    (event) =>
      (filter === undefined || event.message_id === filter) &&
      (showsPolls || filter !== undefined || event.endpoint !== "Updates.list" || event.status !== 200)
  )
  return (
    <>
      <div class="row tool-bar">
        <label class="check">
          <input type="checkbox" checked={showsPolls} onChange={() => setShowsPolls(!showsPolls)} /> GET /updates
        </label>
        {filter === undefined ? null : (
          <button type="button" onClick={() => (requestFilter.value = undefined)}>
            Of one message only ✕
          </button>
        )}
      </div>
      {shown.length === 0 ? <p class="empty">No requests yet.</p> : null}
      <ol class="log">
        {shown.slice(0, 100).map((event) => (
          <Row key={event.id} event={event} />
        ))}
      </ol>
    </>
  )
}
