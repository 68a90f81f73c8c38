import type * as Uploads from "@colloquy/core/Uploads"
import * as Effect from "effect/Effect"
import { openSlot } from "../uploads.ts"
import type { Handlers } from "./handler.ts"

export const uploads: Handlers<typeof Uploads> = {
  create: ({ type }, { entrance, world }) =>
    Effect.sync(() => {
      const { id, media } = openSlot(world, type)
      const url = `${entrance.uploads[type]}/upload/${id}`
      switch (type) {
        case "video":
        case "audio":
          return { url, token: media.token }
        case "image":
          return { url: `${url}?token=${encodeURIComponent(media.token)}` }
        case "file":
          return { url }
      }
    })
}
