import type { UploadType } from "@colloquy/core/Uploads"
import { Look } from "./look.ts"
import { expectMedia } from "../platform/media.ts"
import type { UploadSlot } from "../platform/model.ts"
import type { World } from "../platform/world.ts"

/** An address that takes one file. */
export const openSlot = (world: World, type: UploadType): UploadSlot => {
  const id = world.nextName("slot")
  const media = expectMedia(world, type)
  const slot: UploadSlot = {
    id,
    address: `/upload/${id}${type === "image" ? `?token=${encodeURIComponent(media.token)}` : ""}`,
    media,
    progress: undefined,
    seen: new Look(type),
    isUsed: false
  }
  world.slots.set(id, slot)
  return slot
}
