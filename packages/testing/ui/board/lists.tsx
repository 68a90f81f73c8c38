import { signal } from "@preact/signals"
import { Button } from "../parts/Button.tsx"
import { Choice, Input } from "../parts/Field.tsx"
import { durationOf } from "../parts/format.ts"
import { OpenRow } from "../parts/rows.tsx"
import { act } from "./client.ts"
import { Code, List, momentOf } from "./List.tsx"

const outcomes = { handled: "good", unhandled: "", failed: "warn", dead: "bad" } as const

/** The chat whose updates are shown. */
const chat = signal("")

const outcome = signal("")

/** The log of handled updates, the last first. */
export const Updates = () => (
  <>
    <div class="filters">
      <Input
        label="Chat"
        type="search"
        value={chat.value}
        onInput={({ currentTarget }) => (chat.value = currentTarget.value.trim())}
      />
      <Choice
        label="Outcome"
        value={outcome.value}
        onChange={({ currentTarget }) => (outcome.value = currentTarget.value)}
        options={[["", "All"], ...Object.keys(outcomes).map((each) => [each, each] as const)]}
      />
    </div>
    <List
      name="updates"
      query={{ chat: chat.value || undefined, outcome: outcome.value || undefined }}
      nothing="The log has no such update."
    >
      {(entry) => (
        <OpenRow
          key={`${entry.id} ${entry.attempt} ${entry.ended_at}`}
          status={entry.outcome}
          kind={outcomes[entry.outcome]}
          title={entry.kind}
          line={[
            ...(entry.chat_id === undefined ? [] : [`chat ${entry.chat_id}`]),
            ...(entry.part === undefined ? [] : [`${entry.part.kind} ${entry.part.name}`]),
            `attempt ${entry.attempt}`,
            `${entry.duration_ms} ms`,
            `calls: ${entry.calls.map(({ endpoint, error }) => endpoint + (error === undefined ? "" : " failed")).join(", ") || "none"}`
          ].join(", ")}
          aside={momentOf(entry.ended_at)}
        >
          {entry.error === undefined ? null : <Code label="Error" value={entry.error} />}
          <Code label="Entry of the log" value={entry} />
        </OpenRow>
      )}
    </List>
  </>
)

/** The chats that the bot knows. */
export const Chats = ({ onOpen }: { readonly onOpen: () => void }) => (
  <List name="chats" nothing="The bot knows no chat.">
    {({ chat_id, last_seen, title, type, user }) => (
      <li class="log-row flat" key={chat_id}>
        <span class="log-text">
          <b>{title ?? user?.first_name ?? `Chat ${chat_id}`}</b>
          <bdi class="path">
            {type ?? "unknown type"} {chat_id}, seen {momentOf(last_seen)}
          </bdi>
        </span>
        <Button
          aria-label={`Updates of the chat ${chat_id}`}
          onClick={() => {
            chat.value = String(chat_id)
            outcome.value = ""
            onOpen()
          }}
        >
          Updates
        </Button>
      </li>
    )}
  </List>
)

/** The timers that are set, in the order in which they are due. */
export const Timers = () => (
  <List name="timers" nothing="No timer is set.">
    {({ chat_id, due_at, key, name, recurrence, user_id, value }) => (
      <OpenRow
        key={`${name} ${key} ${chat_id} ${user_id}`}
        status={due_at <= Date.now() ? "due" : `in ${durationOf(due_at - Date.now())}`}
        kind={due_at <= Date.now() ? "warn" : ""}
        title={name}
        line={[
          ...(key === undefined ? [] : [`key ${key}`]),
          ...(chat_id === undefined ? [] : [`chat ${chat_id}`]),
          ...(user_id === undefined ? [] : [`user ${user_id}`]),
          ...(recurrence === undefined ? [] : ["recurs"])
        ].join(", ")}
        aside={momentOf(due_at)}
      >
        <Code label="Value" value={value} />
      </OpenRow>
    )}
  </List>
)

const states = { running: "good", paused: "warn", cancelled: "", finished: "" } as const

/** The broadcasts with their progress, the last started first. */
export const Broadcasts = () => (
  <List name="broadcasts" nothing="There is no broadcast.">
    {({ counts, name, started_at, status, total }) => {
      const done = Object.values(counts).reduce((sum, count) => sum + count, 0)
      const verb = { running: "pause", paused: "resume" }[status as string]
      return (
        <li class="log-row broadcast" key={name}>
          <div class="row">
            <span class={`status ${states[status]}`}>{status}</span>
            <b>{name}</b>
            <small>since {momentOf(started_at)}</small>
            {verb === undefined ? null : (
              <Button aria-label={`${verb} ${name}`} onClick={() => void act(`${verb}-broadcast`, { name })}>
                {verb === "pause" ? "Pause" : "Resume"}
              </Button>
            )}
          </div>
          {total === undefined ? null : <progress max={total} value={done} aria-label={`Progress of ${name}`} />}
          <small>
            {done} of {total ?? "an unknown number"}: {counts.Sent} sent, {counts.Forbidden} forbidden,{" "}
            {counts.NotFound} not found, {counts.Failed} failed
          </small>
        </li>
      )
    }}
  </List>
)
