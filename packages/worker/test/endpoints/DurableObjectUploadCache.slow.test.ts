import * as UploadCacheSuite from "@colloquy/testing/stores/UploadCacheSuite"
import { describe } from "vitest"
import { hasWorkerd } from "../../../../benchmarks/src/workerd.ts"
import { runCases } from "../support/cases.ts"

describe.runIf(hasWorkerd || process.env["CI"] === "true")("DurableObjectUploadCache on workerd", () => {
  runCases("uploads", UploadCacheSuite.cases)
})
