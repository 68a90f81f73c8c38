/** The same decoding with zod: an update from its text, with exact `seq` values and unknown kinds preserved. */
import * as z from "zod"

const id = z.int()
const position = z
  .string()
  .regex(/^-?\d+$/)
  .or(z.int())
  .transform((value) => BigInt(value))

const user = z.object({
  user_id: id,
  first_name: z.string(),
  last_name: z.string().nullish(),
  username: z.string().nullish(),
  is_bot: z.boolean(),
  last_activity_time: z.int().nullish(),
  name: z.string().nullish()
})

const unknown = z.looseObject({ type: z.string() })

const media = z.object({ url: z.string().nullish(), token: z.string() })

const attachment = z.union([
  z.discriminatedUnion("type", [
    z.object({
      type: z.literal("image"),
      payload: z.object({ photo_id: position, token: z.string(), url: z.string() })
    }),
    z.object({ type: z.literal("video"), payload: media }),
    z.object({ type: z.literal("audio"), payload: media }),
    z.object({ type: z.literal("file"), payload: media, filename: z.string().nullish(), size: z.int().nullish() })
  ]),
  unknown
])

const span = { from: z.int(), length: z.int() }

const markup = z.union([
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("strong"), ...span }),
    z.object({ type: z.literal("emphasized"), ...span }),
    z.object({ type: z.literal("link"), ...span, url: z.string().nullish() })
  ]),
  unknown
])

const body = z.object({
  mid: z.string(),
  seq: position,
  text: z.string().nullish(),
  attachments: z.array(attachment).nullish(),
  markup: z.array(markup).nullish()
})

const message = z.object({
  sender: user.nullish(),
  recipient: z.object({
    chat_id: id.nullish(),
    chat_type: z.string(),
    user_id: id.nullish(),
    post_id: z.string().nullish()
  }),
  timestamp: z.int(),
  link: z.object({ type: z.string(), sender: user.nullish(), chat_id: id.nullish(), message: body }).nullish(),
  body: body.nullish(),
  stat: z.object({ views: z.int() }).nullish(),
  url: z.string().nullish()
})

const update = z.object({
  update_type: z.literal("message_created"),
  timestamp: z.int(),
  message: message.nullish(),
  user_locale: z.string().nullish()
})

// JSON.parse rounds long integers, so a program with zod quotes each `seq` first.
const quoted = (text: string): string => text.replace(/("(?:seq|photo_id)":)(-?\d{16,})/g, '$1"$2"')

export const parseWithZod = (text: string): z.infer<typeof update> => update.parse(JSON.parse(quoted(text)))
