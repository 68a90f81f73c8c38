/** Plans of random conversations, and what people should see of them. */
import type { Dice } from "../../../../packages/testing/src/simulation/internal/world/dice.ts"
import { smallerLists, withSmaller } from "../smaller.ts"

/** A part of a conversation, with what the person does. */
export type Part =
  | { readonly type: "ask" }
  /** The person presses the button several times. */
  | { readonly type: "choose"; readonly choice: "a" | "b" | "c"; readonly presses: number; readonly hasNoise: boolean }
  | { readonly type: "several"; readonly choices: ReadonlyArray<"a" | "b" | "c"> }
  | { readonly type: "confirm"; readonly yes: boolean }
  | { readonly type: "optional" }
  /** The person does not answer, so the question times out. The conversation ends with it. */
  | { readonly type: "ignored"; readonly minutes: number }
  | { readonly type: "say" }
  | { readonly type: "step"; readonly millis: number }
  | { readonly type: "sleep"; readonly seconds: number }

export interface Talk {
  readonly id: string
  readonly parts: ReadonlyArray<Part>
}

export interface ConversationsPlan {
  /** The conversations of each person, one after the other. */
  readonly people: ReadonlyArray<ReadonlyArray<Talk>>
  /** Maximum time that a person thinks, in milliseconds. */
  readonly wait: number
}

const planPart = (dice: Dice): Part =>
  dice.weighted<() => Part>([
    [3, () => ({ type: "ask" })],
    [
      3,
      () => ({
        type: "choose",
        choice: dice.pick(["a", "b", "c"]),
        presses: dice.pick([1, 1, 3]),
        hasNoise: dice.chance(0.2)
      })
    ],
    [1, () => ({ type: "several", choices: (["a", "b", "c"] as const).filter(() => dice.chance(0.5)) })],
    [2, () => ({ type: "confirm", yes: dice.chance(0.5) })],
    [1, () => ({ type: "optional" })],
    [2, () => ({ type: "say" })],
    [2, () => ({ type: "step", millis: dice.int(2000) })],
    [1, () => ({ type: "sleep", seconds: dice.int(60) })]
  ])()

const planTalk = (dice: Dice, id: string): Talk => {
  const parts = Array.from({ length: 1 + dice.int(6) }, () => planPart(dice))
  return { id, parts: dice.chance(0.15) ? [...parts, { type: "ignored", minutes: 1 + dice.int(20) }] : parts }
}

export const planConversations = (dice: Dice): ConversationsPlan => ({
  people: Array.from({ length: 1 + dice.int(3) }, (_, person) =>
    Array.from({ length: 1 + dice.int(4) }, (_, index) => planTalk(dice, `c${person}-${index}`))
  ),
  wait: dice.pick([0, 3000, 20_000])
})

export const smallerConversations = (plan: ConversationsPlan): ReadonlyArray<ConversationsPlan> => [
  ...smallerLists(plan.people, 1).map((people) => ({ ...plan, people })),
  ...withSmaller(plan.people, (talks) => [
    ...smallerLists(talks, 1),
    ...withSmaller(talks, (talk) => smallerLists(talk.parts, 1).map((parts) => ({ ...talk, parts })))
  ]).map((people) => ({ ...plan, people })),
  ...(plan.wait > 0 ? [{ ...plan, wait: 0 }] : [])
]

/** The text of a question or a message of a part. */
export const textOf = ({ id }: Talk, index: number): string => `${id}.${index}?`

/** The text with which a person answers. */
export const answerOf = ({ id }: Talk, index: number): string => `${id}.${index} answer`

/** The result of a part, as the last message shows it. */
const resultOf = (talk: Talk, part: Part, index: number): string => {
  switch (part.type) {
    case "ask":
      return answerOf(talk, index)
    case "choose":
      return part.choice
    case "several":
      return part.choices.join("")
    case "confirm":
      return String(part.yes)
    case "optional":
      return "skipped"
    case "step":
      return `receipt ${index}`
    case "ignored":
    case "say":
    case "sleep":
      return "-"
  }
}

/** The last message of a conversation. */
export const doneOf = (talk: Talk, results: ReadonlyArray<string>): string => `${talk.id} done: ${results.join(", ")}`

export const forgottenOf = ({ id }: Talk): string => `${id} is forgotten`

/** What the bot says in a conversation, without any fault. */
export const transcriptOf = (talk: Talk): ReadonlyArray<string> => {
  const said = talk.parts.flatMap((part, index) =>
    part.type === "step" || part.type === "sleep" ? [] : [textOf(talk, index)]
  )
  const isForgotten = talk.parts.some(({ type }) => type === "ignored")
  const results = talk.parts.map((part, index) => resultOf(talk, part, index))
  return [...said, isForgotten ? forgottenOf(talk) : doneOf(talk, results)]
}
