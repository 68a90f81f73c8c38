/** Plans of handlers that add statements to the commits of their updates. */
import type { Dice } from "../../../../packages/testing/src/simulation/internal/world/dice.ts"
import { smallerLists, withSmaller } from "../smaller.ts"

/** What a handler does between its first and its last statement. */
export type Step =
  | { readonly type: "sleep"; readonly millis: number }
  /** Reads the total of all chats, and adds a statement that expects the same total. */
  | { readonly type: "total" }
  /** Fails sometimes. */
  | { readonly type: "fail" }
  /** Adds a statement that fails sometimes. */
  | { readonly type: "refused" }

/** A message that a person sends, and what its handler does. */
export interface Message {
  /** The text, which no other message of the plan has. */
  readonly text: string
  /** How long the person waits before. */
  readonly wait: number
  readonly steps: ReadonlyArray<Step>
}

/** Groups of deliveries, each with one commit. */
export interface Batches {
  readonly size: number
  readonly millis: number
  readonly perChat: number | "unbounded"
  readonly concurrency: number
  /** After how many milliseconds a running stream is closed, and run again. `undefined`: never. */
  readonly closeAfter?: number | undefined
  /** For how long groups that are acknowledged by hand wait for this at most, in milliseconds. `undefined`: by `runForEach`. */
  readonly byHand?: number | undefined
}

export interface RowsPlan {
  readonly chats: ReadonlyArray<ReadonlyArray<Message>>
  /** `undefined`: each update has a commit of its own. */
  readonly batches?: Batches | undefined
}

const planStep = (dice: Dice): Step =>
  dice.weighted<(dice: Dice) => Step>([
    [3, (dice) => ({ type: "sleep", millis: dice.int(dice.pick([200, 4000])) })],
    [3, () => ({ type: "total" })],
    [1, () => ({ type: "fail" })],
    [2, () => ({ type: "refused" })]
  ])(dice)

const planBatches = (dice: Dice): Batches => ({
  size: 1 + dice.int(10),
  millis: dice.int(3000),
  perChat: dice.pick([1, 3, "unbounded"]),
  concurrency: dice.pick([1, 4]),
  closeAfter: dice.chance(0.3) ? 1000 + dice.int(40_000) : undefined,
  // A chat can be lost while its group waits.
  byHand: dice.fork("by hand").chance(0.4) ? dice.fork("by hand").pick([100, 5000, 60_000]) : undefined
})

export const planRows = (dice: Dice): RowsPlan => {
  const wait = dice.pick([0, 100, 2500, 10_000])
  return {
    chats: Array.from({ length: 1 + dice.int(5) }, (_, chat) =>
      Array.from({ length: 1 + dice.int(15) }, (_, index) => ({
        text: `r${chat}-${index}`,
        wait: dice.int(wait + 1),
        steps: Array.from({ length: dice.int(4) }, () => planStep(dice))
      }))
    ),
    batches: dice.chance(0.5) ? planBatches(dice) : undefined
  }
}

/** Batches of several chats, which wait for up to half a minute until they are acknowledged. */
export const calmerRows = ({ chats }: RowsPlan): RowsPlan => ({
  chats: Array.from({ length: 5 }, (_, chat) =>
    chats[chat % chats.length].map(({ wait }, index) => ({ text: `r${chat}-${index}`, wait, steps: [] }))
  ),
  batches: { size: 10, millis: 1000, perChat: 1, concurrency: 4, byHand: 30_000 }
})

const smallerMessages = (message: Message): ReadonlyArray<Message> => [
  ...smallerLists(message.steps).map((steps) => ({ ...message, steps })),
  ...(message.wait > 0 ? [{ ...message, wait: 0 }] : [])
]

export const smallerRows = (plan: RowsPlan): ReadonlyArray<RowsPlan> => [
  ...smallerLists(plan.chats, 1).map((chats) => ({ ...plan, chats })),
  ...withSmaller(plan.chats, (messages) => [
    ...smallerLists(messages, 1),
    ...withSmaller(messages, smallerMessages)
  ]).map((chats) => ({ ...plan, chats })),
  ...(plan.batches?.closeAfter === undefined ? [] : [{ ...plan, batches: { ...plan.batches, closeAfter: undefined } }])
]
