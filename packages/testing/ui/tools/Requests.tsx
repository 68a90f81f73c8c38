import { useSignal } from "@preact/signals"
import { memo } from "preact/compat"
import { useEffect, useRef, useState } from "preact/hooks"
import { call } from "../api.ts"
import { Button } from "../parts/Button.tsx"
import { copyText } from "../parts/clipboard.ts"
import { faultText } from "../parts/faultText.ts"
import { focusMessage } from "../parts/focusMessage.ts"
import { Select } from "../parts/Field.tsx"
import { preciseTime } from "../parts/format.ts"
import { pretty } from "../parts/json.ts"
import { Rows } from "../parts/rows.tsx"
import { useRead } from "../parts/useRead.ts"
import {
  act,
  botTitleOf,
  chats,
  messageFilter,
  openChat,
  panes,
  requests,
  shownRequest,
  toast,
  view
} from "../store.ts"
import type { RequestView } from "../types.ts"
import type { RequestEvent } from "./activity.ts"
import { curlOf } from "./curl.ts"
import { FaultMark, OneMessage, RequestLine } from "./RequestLine.tsx"

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

const repeat = async (number: number): Promise<void> => {
  const answer = await act("repeatRequest", { number })
  if (answer !== undefined) toast(`The request is answered with ${answer.status ?? "a lost connection"}`)
}

/** Shows the message that a request created or changed. */
const showMessage = ({ chat_id, message_id }: RequestEvent): void => {
  const [pane] = panes.value
  if (chat_id !== undefined && pane.chat.value !== chat_id) openChat(pane, chat_id)
  view.value = "chat"
  const find = (tries: number): void => {
    if (!focusMessage(message_id ?? "") && tries > 0) setTimeout(() => find(tries - 1), 50)
  }
  find(20)
}

const Details = ({ event }: { readonly event: RequestEvent }) => {
  const { number } = event
  const read = useRead(() => call("listRequests", { from: number, count: 1 }).catch(() => ({ requests: [] })), [number])
  if (read === undefined) return <p class="empty">Reading…</p>
  const request = read.requests.find((found) => found.number === number)
  if (request === undefined) return <p class="empty">The emulator no longer keeps this request.</p>
  const full = event.limits.filter(({ limit, used }) => used >= limit)
  return (
    <div class="details">
      <p class="ids">
        {preciseTime(event.at)} {event.method} {event.path}
        {event.query}
        {full.map(({ limit, scope, used }) => `, ${scope} ${used}/${limit}`)}
      </p>
      {event.fault === undefined ? null : <p class="note">{faultText(event.fault)}</p>}
      <div class="row">
        {event.message_id === undefined ? null : <Button onClick={() => showMessage(event)}>Show the message</Button>}
        {event.endpoint === null ? null : <Button onClick={() => void repeat(event.number)}>Send again</Button>}
        <Button onClick={() => void copyText(curlOf(request, location.origin), "The command")}>Copy as curl</Button>
        <Button onClick={() => void copyText(pretty(request.answer), "The answer")}>Copy the answer</Button>
      </div>
      <Body label="Headers, without the token" value={shownHeaders(request.headers)} />
      <Body label="Body" value={request.body} />
      <Body label="Answer" value={request.answer} />
    </div>
  )
}

const Row_ = ({ event }: { readonly event: RequestEvent }) => {
  const row = useRef<HTMLLIElement>(null)
  const [isOpen, setOpen] = useState(false)
  const isAskedFor = shownRequest.value === event.number
  useEffect(() => {
    if (!isAskedFor) return
    shownRequest.value = undefined
    setOpen(true)
    row.current?.scrollIntoView({ block: "nearest" })
    row.current?.querySelector("button")?.focus({ preventScroll: true })
  }, [isAskedFor])
  return (
    <li class="log-row" ref={row}>
      <div class="log-line">
        <button type="button" class="line log-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <RequestLine event={event} />
        </button>
        <FaultMark event={event} />
      </div>
      {isOpen ? <Details event={event} /> : null}
    </li>
  )
}

/** A new request renders only its own row. */
const Row = memo(Row_)

/** The choices of the status: their texts and their requests. */
const outcomes = {
  all: ["Any status", () => true],
  succeeded: ["Succeeded", ({ status }) => status !== null && status < 400],
  failed: ["Failed", ({ status }) => status === null || status >= 400],
  limited: ["429", ({ status }) => status === 429],
  faults: ["By a fault", ({ fault }) => fault !== undefined]
} satisfies Record<string, readonly [text: string, includes: (event: RequestEvent) => boolean]>

type Outcome = keyof typeof outcomes

/** The requests of bots, the newest first. */
export const Requests = () => {
  const outcome = useSignal<Outcome>("all")
  const endpoint = useSignal("")
  const chat = useSignal("")
  const text = useSignal("")
  const mid = messageFilter.value
  const words = text.value.toLowerCase()
  const matches = (event: RequestEvent): boolean => {
    if (event.number === shownRequest.value) return true
    if (mid !== undefined) return event.message_id === mid
    // The polls of a quiet bot are shown only if they are chosen.
    if (endpoint.value === "" && event.endpoint === "Updates.list" && event.status === 200) return false
    return (
      outcomes[outcome.value][1](event) &&
      (endpoint.value === "" || event.endpoint === endpoint.value) &&
      (chat.value === "" || String(event.chat_id) === chat.value) &&
      (words === "" ||
        `${event.text ?? ""} ${event.endpoint ?? ""} ${event.path}${event.query}`.toLowerCase().includes(words))
    )
  }
  const shown = requests.value.filter(matches)
  const asked = shownRequest.value === undefined ? -1 : shown.findIndex(({ number }) => number === shownRequest.value)
  const endpoints = [...new Set(requests.value.flatMap(({ endpoint }) => endpoint ?? []))].sort()
  return (
    <>
      <div class="filters">
        <Select
          aria-label="Status"
          value={outcome.value}
          options={Object.entries(outcomes).map(([name, [text]]) => [name, text])}
          onChange={({ currentTarget }) => (outcome.value = currentTarget.value as Outcome)}
        />
        <Select
          aria-label="Endpoint"
          value={endpoint.value}
          options={[["", "Any endpoint"], ...endpoints.map((name) => [name, name] as const)]}
          onChange={({ currentTarget }) => (endpoint.value = currentTarget.value)}
        />
        <Select
          aria-label="Chat"
          value={chat.value}
          options={[
            ["", "Any chat"],
            ...[...chats.value.values()].map((view) => [view.chat.chat_id, botTitleOf(view)] as const)
          ]}
          onChange={({ currentTarget }) => (chat.value = currentTarget.value)}
        />
        <input
          type="search"
          aria-label="Text"
          placeholder="Text"
          value={text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
      </div>
      <OneMessage />
      {shown.length === 0 ? (
        <p class="empty">{requests.value.length === 0 ? "No requests yet." : "No request matches."}</p>
      ) : null}
      <Rows all={shown} kind="log dense" least={asked + 1}>
        {(event) => <Row key={event.id} event={event} />}
      </Rows>
    </>
  )
}
