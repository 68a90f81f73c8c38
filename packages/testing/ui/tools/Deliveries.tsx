import { useState } from "preact/hooks"
import { Button } from "../parts/Button.tsx"
import { useNow } from "../parts/useNow.ts"
import { durationOf, preciseTime } from "../parts/format.ts"
import { act, deliveries, nameOf, state, updates } from "../store.ts"
import type { EventOf } from "../types.ts"

import { attemptText, stateClass, stateOf, type Step, steps, type UpdateEvent, type UpdateState } from "./activity.ts"
import { UpdateDetails } from "./UpdateDetails.tsx"

type DeliveryEvent = EventOf<"delivery">

/** The last attempt of each delivery, with its number of attempts. */
const lastAttempts = (): ReadonlyArray<DeliveryEvent> => {
  const seen = new Set<number>()
  return deliveries.value.filter(({ delivery_id }) => !seen.has(delivery_id) && seen.add(delivery_id))
}

const resultOf = ({ failure, latency, status }: DeliveryEvent): string =>
  status === null ? (failure ?? "no response") : `${status} after ${durationOf(latency)}`

const Row = ({ event, now }: { readonly event: DeliveryEvent; readonly now: number }) => {
  const [isOpen, setOpen] = useState(false)
  const attempts = deliveries.value.filter(({ delivery_id }) => delivery_id === event.delivery_id)
  const kind = { delivered: "good", failed: "warn", dead: "bad" }[event.state]
  return (
    <li class="log-row">
      <Button class="log-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class={`status ${kind}`}>{event.state}</span>
        <span class="log-text">
          <b>{event.update_type}</b>
          <bdi class="path">{event.url}</bdi>
        </span>
        <small>
          attempt {event.attempt}
          <br />
          {resultOf(event)}
        </small>
      </Button>
      {event.state === "failed" && event.next_at !== null ? (
        <div class="row">
          <small>
            next at {preciseTime(event.next_at)}, in {durationOf(Math.max(0, event.next_at - now))}
          </small>
          <Button onClick={() => void act("deliverNow", { delivery_id: event.delivery_id })}>Deliver now</Button>
        </div>
      ) : null}
      {isOpen ? (
        <ol class="attempts">
          {attempts.toReversed().map((each) => (
            <li key={each.id}>
              <small>
                {each.attempt}. {preciseTime(each.at)}: {resultOf(each)}
              </small>
            </li>
          ))}
        </ol>
      ) : null}
    </li>
  )
}

interface UpdateRowProps extends Step {
  readonly update: UpdateEvent
  readonly state: UpdateState
}

const UpdateRow = ({ attempts, requests, state, update }: UpdateRowProps) => {
  const [isOpen, setOpen] = useState(false)
  const last = attempts.at(-1)
  const calls = [...new Set(requests.map(({ endpoint, path }) => endpoint ?? path))].join(", ")
  const done = [...(last === undefined ? [] : [attemptText(last)]), ...(calls === "" ? [] : [calls])].join(" → ")
  return (
    <li class="log-row">
      <Button class="line log-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class={`status ${stateClass[state]}`}>{state}</span>
        <b>{update.update_type}</b>
        <bdi class="path">{update.text === undefined ? "" : `“${update.text}”`}</bdi>
        <small>{preciseTime(update.at).slice(0, 8)}</small>
      </Button>
      {done === "" ? null : <small class="done">→ {done}</small>}
      {isOpen ? <UpdateDetails event={update} /> : null}
    </li>
  )
}

/** The deliveries to webhooks, and the updates that were queued for bots. */
export const Deliveries = () => {
  const now = useNow()
  const [count, setCount] = useState(100)
  const shown = steps.value.flatMap(({ update, ...step }) => (update === undefined ? [] : [{ ...step, update }]))
  const last = lastAttempts()
  const dead = last.filter((event) => event.state === "dead")
  const waiting = last.filter((event) => event.state === "failed")
  const delivered = last.filter((event) => event.state === "delivered")
  const webhooks = (state.value?.bots ?? []).flatMap(({ user, webhooks }) =>
    webhooks.map(({ url }) => ({ url, name: nameOf(user.user_id) }))
  )
  const section = (title: string, events: ReadonlyArray<DeliveryEvent>) =>
    events.length === 0 ? null : (
      <>
        <h3>
          {title} <span class="count">{events.length}</span>
        </h3>
        <ol class="log">
          {events.slice(0, 100).map((event) => (
            <Row key={event.delivery_id} event={event} now={now} />
          ))}
        </ol>
      </>
    )
  return (
    <>
      <h3>Webhooks</h3>
      {webhooks.length === 0 ? <p class="empty">No bot has subscribed a webhook.</p> : null}
      <ul class="plain">
        {webhooks.map(({ name, url }) => (
          <li key={url}>
            <bdi class="path">{url}</bdi> <small>{name}</small>
          </li>
        ))}
      </ul>
      {section("Dead", dead)}
      {section("Waiting", waiting)}
      {section("Delivered", delivered)}
      <h3>
        Updates <span class="count">{updates.value.length}</span>
      </h3>
      {updates.value.length === 0 ? <p class="empty">No updates yet.</p> : null}
      <ol class="log">
        {shown.slice(0, count).map((step) => (
          <UpdateRow key={step.update.id} {...step} state={stateOf(step)} />
        ))}
      </ol>
      {shown.length > count ? <Button onClick={() => setCount(count + 300)}>Show more of {shown.length}</Button> : null}
    </>
  )
}
