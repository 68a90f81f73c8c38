/** What people see of a live message in the end is its whole text, once. */
import { removedBy, sentIn } from "../../auditor/messages.ts"
import type { Recording, Violation } from "../../auditor/recording.ts"
import { ofType } from "../../history.ts"
import { subjectOf } from "../../auditor/subjects.ts"

interface Question {
  readonly text: string
  readonly words: number
}

/** What an answer shows after its source has failed. Before the first word, the message shows nothing else. */
export const failure = "The answer could not be completed."

export const auditLive = (
  { people }: { readonly people: ReadonlyArray<ReadonlyArray<Question>> },
  { ending, events }: Recording
): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const violate = (rule: string, detail: string) => void violations.push({ rule, detail })
  const deleted = removedBy(events)
  const removed = sentIn(events).filter(({ mid }) => deleted.has(mid))
  const handlings = [...ofType(events, "began"), ...ofType(events, "ended")]
  const presses = ofType(events, "said").filter(({ subject }) => subject.startsWith("callback "))
  /** Whether something happened while a question was handled: a chat has one question at a time. */
  const isDuring = (event: { readonly chat: string; readonly at: number }, question: string) => {
    const of = handlings.filter(({ chat, subject }) => chat === event.chat && subject === question)
    return of.some(({ at }) => at <= event.at) && of.some(({ at }) => at >= event.at)
  }
  const dead = new Set(ending.deadLetters.map(({ text }) => subjectOf(text)))
  for (const { text, words } of people.flat()) {
    if (dead.has(text)) continue
    // An answer ends when somebody deletes one of its messages.
    const isRemoved = removed.some(
      (message) => message.text.startsWith(`${text}w`) || (message.text === failure && isDuring(message, text))
    )
    if (isRemoved) continue
    const shown = ending.messages.map((message) => message.text).filter((shown) => shown.startsWith(`${text}w`))
    const beginnings = shown.filter((message) => message.split(" ")[0] === `${text}w0`)
    if (beginnings.length !== 1) violate("an answer is shown once", `${text}: ${beginnings.length}`)
    const actual = shown.flatMap((message) => message.split(" ")).filter((word) => word !== "")
    const wrong = actual.findIndex((word, index) => word !== `${text}w${index}`)
    if (wrong !== -1) violate("an answer has its words in order", `${text}: ${actual[wrong]} at ${wrong}`)
    // Somebody may stop an answer while another answer is meant, because both have failed before their first words.
    const isStopped = presses.some((pressed) => isDuring(pressed, text))
    if (!isStopped && actual.length !== words) {
      violate("an answer is complete", `${text}: ${actual.length} of ${words} words`)
    }
  }
  return violations
}
