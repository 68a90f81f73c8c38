import type * as Cloudflare from "@cloudflare/workers-types"
import type { DurableObjectStorage } from "@colloquy/worker"
import { describe, expectTypeOf, it } from "vitest"

describe("DurableObjectStorage", () => {
  it("is what the types of Cloudflare call so", () => {
    expectTypeOf<Cloudflare.DurableObjectStorage>().toExtend<DurableObjectStorage.DurableObjectStorage>()
    expectTypeOf<Cloudflare.DurableObjectState["storage"]>().toExtend<DurableObjectStorage.DurableObjectStorage>()
  })
})
