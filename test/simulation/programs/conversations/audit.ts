/** What people see of a conversation has to be what they would see without faults. */
import { sentIn } from "../../auditor/messages.ts"
import type { Recording, Violation } from "../../auditor/recording.ts"
import { subjectOf } from "../../auditor/subjects.ts"
import { ofType } from "../../history.ts"
import { type ConversationsPlan, type Talk, transcriptOf } from "./plan.ts"

export const auditConversations = (
  { people }: ConversationsPlan,
  { ending, events }: Recording
): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const violate = (rule: string, detail: string) => void violations.push({ rule, detail })
  const sent = sentIn(events).map(({ text }) => text)
  const dead = ending.deadLetters.map(({ text }) => subjectOf(text))
  const isDead = ({ id }: Talk) => dead.some((subject) => subject.includes(id) || subject.startsWith("callback"))
  for (const talk of people.flat()) {
    if (isDead(talk)) continue
    const actual = sent.filter((text) => text.startsWith(`${talk.id}.`) || text.startsWith(`${talk.id} `))
    const expected = transcriptOf(talk)
    if (actual.join("\n") !== expected.join("\n")) {
      violate("a conversation is as without faults", `${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
    }
    for (const [index, part] of talk.parts.entries()) {
      if (part.type !== "step") continue
      const keys = new Set(
        ofType(events, "noted").flatMap(({ subject, value }) => (subject === `${talk.id}.${index}` ? [value] : []))
      )
      if (keys.size !== 1) violate("each step has one key", `${talk.id}.${index}: ${keys.size}`)
    }
  }
  for (const { name, scope } of ending.states) {
    if (name === "conversation/talk") violate("nothing of a conversation is left", scope)
  }
  return violations
}
