import { useState } from "preact/hooks"
import { Button } from "../parts/Button.tsx"
import { useNow } from "../parts/useNow.ts"
import { durationOf, preciseTime } from "../parts/format.ts"
import { CountedHeading, OpenRow, Rows } from "../parts/rows.tsx"
import { act, bots, deliveries, nameOf, updates } from "../store.ts"
import type { EventOf } from "../types.ts"
import { attemptText, stateClass, stateOf, type Step, steps, type UpdateState } from "./activity.ts"
import { UpdateDetails } from "./UpdateDetails.tsx"

type DeliveryEvent = EventOf<"delivery">

/** The last attempt of each delivery, with its number of attempts. */
const lastAttempts = (): ReadonlyArray<DeliveryEvent> => {
  const seen = new Set<number>()
  return deliveries.value.filter(({ delivery_id }) => !seen.has(delivery_id) && seen.add(delivery_id))
}

const resultOf = ({ failure, latency, status }: DeliveryEvent): string =>
  status === null ? (failure ?? "no response") : `${status} after ${durationOf(latency)}`

/** The attempts to deliver an update to a webhook, the first attempt first. */
const Attempts = ({ delivery_id }: Pick<DeliveryEvent, "delivery_id">) => (
  <ol class="attempts">
    {deliveries.value
      .filter((event) => event.delivery_id === delivery_id)
      .toReversed()
      .map((each) => (
        <li key={each.id}>
          <small>
            {each.attempt}. {preciseTime(each.at)}: {resultOf(each)}
          </small>
        </li>
      ))}
  </ol>
)

/** When a failed delivery is tried again. */
const Next = ({ event: { delivery_id, next_at }, now }: { readonly event: DeliveryEvent; readonly now: number }) =>
  next_at === null ? null : (
    <div class="row">
      <small>
        next at {preciseTime(next_at)}, in {durationOf(Math.max(0, next_at - now))}
      </small>
      <Button onClick={() => void act("deliverNow", { delivery_id })}>Deliver now</Button>
    </div>
  )

const kinds = { delivered: "good", failed: "warn", dead: "bad" } as const

const UpdateRow = ({ attempts, requests, state, update }: Step & { readonly state: UpdateState }) => {
  const [isOpen, setOpen] = useState(false)
  if (update === undefined) return null
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
  const shown = steps.value.filter(({ update }) => update !== undefined)
  const last = lastAttempts()
  const webhooks = bots.value.flatMap(({ user, webhooks }) =>
    webhooks.map(({ url }) => (
      <li key={url}>
        <bdi class="path">{url}</bdi> <small>{nameOf(user.user_id)}</small>
      </li>
    ))
  )
  const section = (title: string, state: DeliveryEvent["state"]) => {
    const events = last.filter((event) => event.state === state)
    return events.length === 0 ? null : (
      <>
        <CountedHeading title={title} count={events.length} />
        <ol class="log">
          {events.slice(0, 100).map((event) => (
            <OpenRow
              key={event.delivery_id}
              status={event.state}
              kind={kinds[event.state]}
              title={event.update_type}
              line={event.url}
              aside={
                <>
                  attempt {event.attempt}
                  <br />
                  {resultOf(event)}
                </>
              }
              always={event.state === "failed" ? <Next event={event} now={now} /> : null}
            >
              <Attempts delivery_id={event.delivery_id} />
            </OpenRow>
          ))}
        </ol>
      </>
    )
  }
  return (
    <>
      <h3>Webhooks</h3>
      {webhooks.length === 0 ? <p class="empty">No bot has subscribed a webhook.</p> : null}
      <ul class="plain">{webhooks}</ul>
      {section("Dead", "dead")}
      {section("Waiting", "failed")}
      {section("Delivered", "delivered")}
      <CountedHeading title="Updates" count={updates.value.length} />
      {updates.value.length === 0 ? <p class="empty">No updates yet.</p> : null}
      <Rows all={shown}>{(step) => <UpdateRow key={step.update?.id} {...step} state={stateOf(step)} />}</Rows>
    </>
  )
}
