import type { Attachment } from "@colloquy/core/Attachment"
import * as Effect from "effect/Effect"
import type { OwnMedia, SaidAttachment } from "../../Person.ts"
import { defined } from "../platform/defined.ts"
import { expectMedia, toAttachment } from "../platform/media.ts"
import type { Media } from "../platform/model.ts"
import type { World } from "../platform/world.ts"
import { type Actor, cannot, type Doing } from "./actor.ts"

type SaidMedia = Extract<SaidAttachment, { readonly type: Media["type"] }>

const isMedia = (said: SaidAttachment): said is SaidMedia => {
  const { type } = said
  return type === "image" || type === "video" || type === "audio" || type === "file"
}

/** A file that a person has of their own: the platform has taken it over already, so the token works for bots. */
const takeIn = (world: World, said: OwnMedia): Media => {
  const { photo_id, token, url } = said.payload ?? {}
  const known = token == null ? undefined : world.media.get(token)
  if (known !== undefined) return known
  const media = expectMedia(world, said.type, {
    token: token ?? undefined,
    photo_id: photo_id ?? undefined,
    sourceUrl: url ?? undefined
  })
  media.readyAt = world.now
  if (said.type === "file") {
    media.filename = said.filename ?? undefined
    media.size = said.size ?? 0
  }
  return media
}

/** An attachment as others see it, with what the platform adds. */
export const attach = (actor: Actor, said: SaidAttachment): Doing<Attachment> =>
  Effect.suspend((): Doing<Attachment> => {
    if (!isMedia(said)) return Effect.succeed(said)
    const media = takeIn(actor.world, said)
    if (media.type !== said.type) return cannot(actor, `no ${said.type} has the token ${media.token}`)
    const { payload: _, ...rest } = said
    return Effect.succeed({ ...toAttachment(actor.world, media), ...defined(rest) } as Attachment)
  })
