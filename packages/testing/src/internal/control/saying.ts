import { Attachment } from "@colloquy/core/Attachment"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { expectMedia, urlOf } from "../media.ts"
import type { Media } from "../model.ts"
import * as refusal from "../refusal.ts"
import { describe } from "../requestReader.ts"
import type { World } from "../world.ts"

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const isMedia = (type: unknown): type is Media["type"] =>
  type === "image" || type === "video" || type === "audio" || type === "file"

/** A file that a person has of their own: the platform has taken it over already, so the token works for bots. */
const complete = (world: World, given: unknown): unknown => {
  if (!isObject(given) || !isMedia(given["type"])) return given
  const payload = isObject(given["payload"]) ? given["payload"] : {}
  const { token, url } = payload
  if (typeof token === "string" && world.media.has(token)) return given
  const media = expectMedia(world, given["type"], {
    ...(typeof token === "string" ? { token } : {}),
    sourceUrl: typeof url === "string" ? url : undefined
  })
  media.readyAt = world.now
  if (typeof given["filename"] === "string") media.filename = given["filename"]
  if (typeof given["size"] === "number") media.size = given["size"]
  const own = { token: media.token, url: urlOf(world, media) }
  return { ...given, payload: { ...(media.type === "image" ? { photo_id: media.photo_id } : {}), ...payload, ...own } }
}

const decode = Schema.decodeUnknownEffect(Attachment, { errors: "all" })

/** The attachments of a person's message: as others see them, or as short as `{type, payload: {url}}`. */
export const readAttachments = (
  world: World,
  given: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<Attachment>, refusal.Refusal> =>
  Effect.forEach(given, (attachment, index) =>
    Effect.mapError(
      Effect.suspend(() => decode(complete(world, attachment))),
      (error) => refusal.invalidPayload(`attachments[${index}]: ${describe(error)}`)
    )
  )
