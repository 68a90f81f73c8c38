import { assert, describe, it } from "@effect/vitest"
import { infoOf, makeMp4, writeMp4 } from "../../../src/emulator/internal/upload/mp4.ts"
import { mp4 } from "../../support/media.ts"

describe("writeMp4", () => {
  it("returns nothing for a video whose header has no size", () => {
    const state = makeMp4()
    const header = new Uint8Array(24)
    header.set([0, 0, 0, 16, 0x66, 0x74, 0x79, 0x70])
    header.set(new TextEncoder().encode("moov"), 20)
    writeMp4(state, header)
    writeMp4(state, mp4(640, 360, 95).subarray(32))
    assert.isUndefined(infoOf(state))
  })
})
