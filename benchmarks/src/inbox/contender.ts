/** What the programs of a race share: they wait for the start, and report what they handled. */
import { endWithParent, onParentMessage, sharedTime, tellParent } from "../processes.ts"

export type Command = { readonly run: "go" | "stop" }

export type Report =
  | { readonly is: "ready" }
  | { readonly is: "progress"; readonly handled: number; readonly at: number }
  | { readonly is: "result"; readonly handled: ReadonlyArray<number> }

const reportInterval = 20

/**
 * Runs a contender: `go` is called when all processes are ready, with a function that records the number of a handled
 * update.
 */
export const contend = (go: (record: (index: number) => void) => void): void => {
  const handled: Array<number> = []
  let reported = 0
  let at = 0
  endWithParent()
  onParentMessage(({ run }: Command) => {
    if (run === "stop") return tellParent({ is: "result", handled } satisfies Report)
    setInterval(() => {
      if (reported === handled.length) return
      reported = handled.length
      tellParent({ is: "progress", handled: reported, at } satisfies Report)
    }, reportInterval)
    go((index) => {
      handled.push(index)
      at = sharedTime()
    })
  })
  tellParent({ is: "ready" } satisfies Report)
}
