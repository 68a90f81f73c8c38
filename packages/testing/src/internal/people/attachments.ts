import type { Attachment } from "@colloquy/core/Attachment"
import * as Effect from "effect/Effect"
import type { PersonMedia, PersonAttachment } from "../../Person.ts"
import { defined } from "../platform/defined.ts"
import { expectMedia, toAttachment } from "../platform/media.ts"
import type { MediaState } from "../platform/model.ts"
import type { PlatformState } from "../platform/state.ts"
import { type Actor, cannot, type Action } from "./actor.ts"

type SaidMedia = Extract<PersonAttachment, { readonly type: MediaState["type"] }>

const isMedia = (said: PersonAttachment): said is SaidMedia => {
  const { type } = said
  return type === "image" || type === "video" || type === "audio" || type === "file"
}

/** A file that a person has of their own: the platform has taken it over already, so the token works for bots. */
const takeIn = (state: PlatformState, said: PersonMedia): MediaState => {
  const { photo_id, token, url } = said.payload ?? {}
  const known = token == null ? undefined : state.media.get(token)
  if (known !== undefined) return known
  const media = expectMedia(state, said.type, {
    token: token ?? undefined,
    photo_id: photo_id ?? undefined,
    sourceUrl: url ?? undefined
  })
  media.readyAt = state.now
  if (said.type === "file") {
    media.filename = said.filename ?? undefined
    media.size = said.size ?? 0
  }
  return media
}

/** An attachment as others see it, with what the platform adds. */
export const attach = (actor: Actor, said: PersonAttachment): Action<Attachment> =>
  Effect.suspend((): Action<Attachment> => {
    if (!isMedia(said)) return Effect.succeed(said)
    const media = takeIn(actor.state, said)
    if (media.type !== said.type) return cannot(actor, `no ${said.type} has the token ${media.token}`)
    const { payload: _, ...rest } = said
    return Effect.succeed({ ...toAttachment(actor.state, media), ...defined(rest) } as Attachment)
  })
