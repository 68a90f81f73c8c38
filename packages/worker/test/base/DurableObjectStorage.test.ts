import type * as Cloudflare from "@cloudflare/workers-types"
import type { DurableObjectStorage } from "@colloquy/worker"
import { describe, expectTypeOf, it } from "vitest"

describe("DurableObjectStorage", () => {
  it("matches the type of Cloudflare with this name", () => {
    expectTypeOf<Cloudflare.DurableObjectStorage>().toExtend<DurableObjectStorage.DurableObjectStorage>()
    expectTypeOf<Cloudflare.DurableObjectState["storage"]>().toExtend<DurableObjectStorage.DurableObjectStorage>()
  })
})
