import { memo } from "preact/compat"
import { useState } from "preact/hooks"
import { Check } from "../parts/Field.tsx"
import { durationOf, preciseTime } from "../parts/format.ts"
import { Rows } from "../parts/rows.tsx"
import { botTitleOf, chats, currentPane, messageFilter, openTool, requests, shownRequest } from "../store.ts"
import { attemptText, type RequestEvent, stateClass, stateOf, type Step, steps } from "./activity.ts"
import { FaultMark, OneMessage, RequestLine } from "./RequestLine.tsx"
import { UpdateDetails } from "./UpdateDetails.tsx"

const showRequest = ({ number }: RequestEvent): void => {
  shownRequest.value = number
  openTool("requests")
}

const chatTitle = (chat_id: number | undefined): string => {
  const view = chat_id === undefined ? undefined : chats.value.get(chat_id)
  return view === undefined ? "" : botTitleOf(view)
}

const Rungs = ({ events }: { readonly events: ReadonlyArray<RequestEvent> }) => (
  <ol class="rungs">
    {events.map((event) => (
      <li key={event.id}>
        <button type="button" class="line" onClick={() => showRequest(event)}>
          <RequestLine event={event} />
        </button>
        <FaultMark event={event} />
      </li>
    ))}
  </ol>
)

const StepView_ = ({ state, step }: { readonly step: Step; readonly state: ReturnType<typeof stateOf> }) => {
  const [isOpen, setOpen] = useState(false)
  const { attempts, requests, update } = step
  if (update === undefined) {
    return (
      <li class="step">
        <Rungs events={requests} />
      </li>
    )
  }
  const last = requests.at(-1)
  return (
    <li class="step">
      <button type="button" class="line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class={`status ${stateClass[state]}`}>{state}</span>
        <b>{update.update_type}</b>
        <bdi class="path">
          {update.text === undefined ? "" : `“${update.text}” `}
          {chatTitle(update.chat_id)}
        </bdi>
        <small>{preciseTime(update.at).slice(0, 8)}</small>
      </button>
      {isOpen ? <UpdateDetails event={update} /> : null}
      {attempts.map((attempt) => (
        <small key={attempt.id} class="attempt">
          {attemptText(attempt)}
        </small>
      ))}
      {last === undefined ? null : (
        <>
          <Rungs events={requests} />
          <small class="rung-end">
            {requests.length} request{requests.length === 1 ? "" : "s"}, {durationOf(last.at + last.took - update.at)}{" "}
            after the update
          </small>
        </>
      )}
    </li>
  )
}

/** A step changes with its own requests and its state only. */
const StepView = memo(
  StepView_,
  (a, b) =>
    a.state === b.state &&
    a.step.update === b.step.update &&
    a.step.requests.length === b.step.requests.length &&
    a.step.attempts.length === b.step.attempts.length
)

const concerns = ({ requests, update }: Step, mid: string): boolean =>
  update?.message_id === mid || requests.some(({ message_id }) => message_id === mid)

/** The events in order: each update, and the requests of the bot that followed. */
export const Timeline = () => {
  const [isOneChat, setOneChat] = useState(false)
  const mid = messageFilter.value
  const chat_id = currentPane().chat.value
  const isShown = (step: Step): boolean => {
    if (mid !== undefined) return concerns(step, mid)
    return !isOneChat || (step.update ?? step.requests[0])?.chat_id === chat_id
  }
  const shown = steps.value.filter(isShown)
  return (
    <>
      <div class="row tool-bar">
        <Check
          text="Only the open chat"
          checked={isOneChat}
          disabled={chat_id === undefined}
          onChange={() => setOneChat(!isOneChat)}
        />
        <OneMessage />
      </div>
      {shown.length === 0 ? (
        <p class="empty">{requests.value.length === 0 ? "Nothing has happened yet." : "Nothing matches."}</p>
      ) : null}
      <Rows all={shown}>
        {(step) => <StepView key={step.update?.id ?? step.requests[0]?.id} step={step} state={stateOf(step)} />}
      </Rows>
    </>
  )
}
