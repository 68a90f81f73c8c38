import * as ChatStoreSuite from "@colloquy/testing/stores/ChatStoreSuite"
import { describe } from "vitest"
import { hasWorkerd } from "../../../../benchmarks/src/workerd.ts"
import { runCases } from "../support/cases.ts"

describe.runIf(hasWorkerd || process.env["CI"] === "true")("DurableObjectChatStore on workerd", () => {
  runCases("chats", ChatStoreSuite.cases)
})
