import type { UploadType } from "@colloquy/core/Uploads"
import { expectMedia } from "./media.ts"
import type { UploadSlot } from "./model.ts"
import type { World } from "./world.ts"

/** An address that takes one file. */
export const openSlot = (world: World, type: UploadType): UploadSlot => {
  const slot: UploadSlot = {
    id: world.nextName("slot"),
    media: expectMedia(world, type),
    progress: undefined,
    pieces: [],
    isUsed: false
  }
  world.slots.set(slot.id, slot)
  return slot
}
