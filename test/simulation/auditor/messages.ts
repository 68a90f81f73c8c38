/** Which messages the platform has created, and which of them people have deleted. */
import { type Event, ofType } from "../history.ts"
import { isSending, type Sent, sentMessage } from "./subjects.ts"

/** The messages of the bot with their times, in order, also those that were removed later. */
export const sentIn = (events: ReadonlyArray<Event>): ReadonlyArray<Sent & Pick<Event, "at">> =>
  ofType(events, "executed").flatMap(({ answer, at, method, path, status }) => {
    const message = isSending(method, path) && status === 200 ? sentMessage(answer) : undefined
    return message === undefined ? [] : [{ ...message, at }]
  })

/** The ids of the messages that people have deleted. */
export const removedBy = (events: ReadonlyArray<Event>): ReadonlySet<string> =>
  new Set(ofType(events, "said").flatMap(({ subject }) => /^message_removed (.+)$/.exec(subject)?.slice(1) ?? []))
