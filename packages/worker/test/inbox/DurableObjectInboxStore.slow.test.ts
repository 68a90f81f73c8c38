import * as InboxSuite from "@colloquy/testing/stores/InboxSuite"
import { Effect } from "effect"
import { describe } from "vitest"
import { hasWorkerd } from "../../../../benchmarks/src/workerd.ts"
import { runCases } from "../support/cases.ts"

const isRun = hasWorkerd || process.env["CI"] === "true"

describe.runIf(isRun)("DurableObjectInboxStore on workerd", () => {
  runCases("inbox", InboxSuite.cases)
})

describe.runIf(isRun)("the handling of updates with a store in a Durable Object on workerd", () => {
  runCases("handling", InboxSuite.handling({ withStore: () => Effect.die("the cases run in workerd") }))
})
