/** The limits of the platform are kept by each process, or by all of them together. */
import { type Event, ofType } from "../history.ts"
import type { RequestSent } from "@colloquy/testing/simulation/SimulationEvent"
import type { Recording, Violation } from "./recording.ts"

/** In milliseconds. */
const window = 1000

/** Requests in a second to the host, and messages in a second to one chat. */
const limits = { host: 30, messages: 2 } as const

type Sent = RequestSent & Pick<Event, "at">

/** Returns the first window with more requests than the limit. */
const tooMany = (sent: ReadonlyArray<Sent>, limit: number): string | undefined => {
  const index = sent.findIndex(({ at }, index) => index >= limit && at - sent[index - limit].at < window)
  return index === -1 ? undefined : `${limit + 1} requests within ${sent[index].at - sent[index - limit].at} ms`
}

const groupBy = (
  sent: ReadonlyArray<Sent>,
  keyOf: (sent: Sent) => string | undefined
): ReadonlyMap<string, ReadonlyArray<Sent>> => {
  const groups = new Map<string, Array<Sent>>()
  for (const request of sent) {
    const key = keyOf(request)
    if (key === undefined) continue
    const group = groups.get(key) ?? []
    groups.set(key, group)
    group.push(request)
  }
  return groups
}

/** The chat to which a request sends a message. */
const chatOf = ({ method, path }: Sent): string | undefined =>
  method === "POST" ? /^\/messages\?(?:.*&)?chat_id=(-?\d+)/.exec(path)?.[1] : undefined

export const auditLimits = ({ events, plan }: Recording): ReadonlyArray<Violation> => {
  if (plan.limits === "none") return []
  const sent = ofType(events, "sent")
  const senders = groupBy(sent, ({ process }) => (plan.limits === "process" ? process : "all processes"))
  return [...senders].flatMap(([sender, sent]) => {
    const problems = [
      tooMany(sent, limits.host),
      ...[...groupBy(sent, chatOf)].map(([, ofChat]) => tooMany(ofChat, limits.messages))
    ]
    return problems.flatMap((problem) =>
      problem === undefined ? [] : [{ rule: "limits are kept in every window", detail: `${sender}: ${problem}` }]
    )
  })
}
