/** Plans of random pipelines. */
import type { Dice } from "../../../../packages/testing/src/simulation/internal/world/dice.ts"
import { smallerLists, withSmaller } from "../smaller.ts"

/** A step of a pipeline. All of them are operators of `Deliveries` or `Stream`. */
export type Stage =
  | { readonly type: "map" }
  /** Leaves out messages whose number can be divided by `by`. */
  | { readonly type: "filter"; readonly by: number }
  /** Works on each delivery for up to `millis`, which can fail. */
  | { readonly type: "mapEffect"; readonly concurrency: number; readonly millis: number }
  | { readonly type: "buffer"; readonly capacity: number }
  | { readonly type: "rechunk" }
  | { readonly type: "throttle"; readonly units: number }
  | { readonly type: "tap"; readonly millis: number }
  /** A second pipeline beside this one. */
  | { readonly type: "tee"; readonly size: number; readonly millis: number }
  | { readonly type: "grouped"; readonly size: number; readonly millis: number }

/** How a pipeline ends. */
export type Sink =
  | { readonly type: "runForEach"; readonly concurrency: number; readonly millis: number; readonly sends: boolean }
  | { readonly type: "runDrain" }
  /** Works and acknowledges by hand, or asks for another attempt. */
  | { readonly type: "byHand"; readonly concurrency: number; readonly millis: number }
  /** Two branches, which run beside each other. */
  | { readonly type: "broadcast"; readonly millis: number }

export interface PipelinesPlan {
  /** Number of messages of each chat. */
  readonly chats: ReadonlyArray<number>
  /** Maximum pause between two messages of a person, in milliseconds. */
  readonly wait: number
  readonly perChat: number | "unbounded"
  readonly stages: ReadonlyArray<Stage>
  readonly sink: Sink
  /** After how many milliseconds a running stream is closed, and run again. `undefined`: never. */
  readonly closeAfter: number | undefined
}

const planStage = (dice: Dice): Stage =>
  dice.pick<() => Stage>([
    () => ({ type: "map" }),
    () => ({ type: "filter", by: 2 + dice.int(4) }),
    () => ({ type: "mapEffect", concurrency: dice.pick([1, 4, 64]), millis: dice.int(3000) }),
    () => ({ type: "mapEffect", concurrency: dice.pick([1, 4, 64]), millis: dice.int(200) }),
    () => ({ type: "buffer", capacity: 1 + dice.int(16) }),
    () => ({ type: "rechunk" }),
    () => ({ type: "throttle", units: 1 + dice.int(20) }),
    () => ({ type: "tap", millis: dice.int(1000) }),
    () => ({ type: "tee", size: 1 + dice.int(10), millis: dice.int(2000) }),
    () => ({ type: "grouped", size: 1 + dice.int(10), millis: dice.int(2000) })
  ])()

const planSink = (dice: Dice): Sink =>
  dice.pick<() => Sink>([
    () => ({
      type: "runForEach",
      concurrency: dice.pick([1, 4, 64]),
      millis: dice.int(3000),
      sends: dice.chance(0.5)
    }),
    () => ({ type: "runDrain" }),
    () => ({ type: "byHand", concurrency: dice.pick([1, 4, 64]), millis: dice.int(3000) }),
    () => ({ type: "broadcast", millis: dice.int(1000) })
  ])()

export const planPipelines = (dice: Dice): PipelinesPlan => ({
  chats: Array.from({ length: 1 + dice.int(6) }, () => 1 + dice.int(15)),
  wait: dice.pick([100, 2500, 10_000]),
  perChat: dice.pick([1, 1, 3, "unbounded"]),
  stages: Array.from({ length: dice.int(5) }, () => planStage(dice)),
  sink: planSink(dice),
  closeAfter: dice.chance(0.25) ? 1000 + dice.int(40_000) : undefined
})

export const smallerPipelines = (plan: PipelinesPlan): ReadonlyArray<PipelinesPlan> => [
  ...smallerLists(plan.chats, 1).map((chats) => ({ ...plan, chats })),
  ...smallerLists(plan.stages).map((stages) => ({ ...plan, stages })),
  ...withSmaller(plan.chats, (count) => (count > 1 ? [Math.ceil(count / 2), count - 1] : [])).map((chats) => ({
    ...plan,
    chats
  })),
  ...(plan.closeAfter === undefined ? [] : [{ ...plan, closeAfter: undefined }]),
  ...(plan.wait > 0 ? [{ ...plan, wait: 0 }] : [])
]

/** The text of a message. */
export const textOf = (chat: number, index: number): string => `p${chat}-${index}`

/** Whether a filter keeps a message. */
export const isKept = ({ by }: Extract<Stage, { type: "filter" }>, text: string): boolean =>
  Number(text.slice(text.indexOf("-") + 1)) % by !== 0
