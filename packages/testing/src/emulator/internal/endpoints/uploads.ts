import type * as Uploads from "@colloquy/core/endpoints/Uploads"
import * as Effect from "effect/Effect"
import { openSlot } from "../upload/host.ts"
import type { Handlers } from "./call.ts"

export const uploads: Handlers<typeof Uploads> = {
  create: ({ type }, { listener, state }) =>
    Effect.sync(() => {
      const { address, media } = openSlot(state, type)
      const url = listener.uploads[type] + address
      return type === "video" || type === "audio" ? { url, token: media.token } : { url }
    })
}
