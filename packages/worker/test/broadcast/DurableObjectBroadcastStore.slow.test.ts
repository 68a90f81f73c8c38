import * as BroadcastSuite from "@colloquy/testing/stores/BroadcastSuite"
import { describe } from "vitest"
import { hasWorkerd } from "../../../../benchmarks/src/workerd.ts"
import { runCases } from "../support/cases.ts"

describe.runIf(hasWorkerd || process.env["CI"] === "true")("DurableObjectBroadcastStore on workerd", () => {
  runCases("broadcasts", [...BroadcastSuite.cases, { name: "ends the leases of an object that was ended" }])
})
