import {
  Attachment,
  AudioAttachment,
  FileAttachment,
  ImageAttachment,
  VideoAttachment
} from "@colloquy/core/Attachment"
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { PersonAttachment } from "../../Person.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { maybe } from "./maybe.ts"

const payload = maybe(
  Schema.Struct({
    url: maybe(Schema.String),
    token: maybe(Schema.String),
    photo_id: maybe(ImageAttachment.fields.payload.fields.photo_id)
  })
)

const own = {
  image: Schema.Struct({ ...ImageAttachment.fields, payload }),
  video: Schema.Struct({ ...VideoAttachment.fields, payload }),
  audio: Schema.Struct({ ...AudioAttachment.fields, payload }),
  file: Schema.Struct({ ...FileAttachment.fields, payload })
}

const decodeOwn = Schema.decodeUnknownEffect(Schema.Union(Object.values(own)), { errors: "all" })

const decodeAny = Schema.decodeUnknownEffect(Attachment, { errors: "all" })

const isOwn = (given: unknown): boolean => hasProperty(given, "type") && Object.hasOwn(own, String(given.type))

/** The attachments of a person's message: as others see them, or as short as `{type, payload: {url}}`. */
export const readAttachments = (
  given: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<PersonAttachment>, refusal.Refusal> =>
  Effect.forEach(given, (attachment, index) =>
    Effect.mapError(
      Effect.suspend((): Effect.Effect<PersonAttachment, Schema.SchemaError> =>
        isOwn(attachment) ? decodeOwn(attachment) : decodeAny(attachment)
      ),
      (error) => refusal.invalidPayload(`attachments[${index}]: ${describe(error)}`)
    )
  )
