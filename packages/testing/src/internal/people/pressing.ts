import type { Attachment } from "@colloquy/core/Attachment"
import type { Button } from "@colloquy/core/Keyboard"
import * as Effect from "effect/Effect"
import type { ButtonRef } from "../../Person.ts"
import { report } from "../platform/deliveries.ts"
import type { Account, Post } from "../platform/model.ts"
import { markActive } from "../platform/rooms.ts"
import { present } from "../platform/views.ts"
import { idOf } from "../platform/world.ts"
import { type Actor, cannot, type Doing, localeOf } from "./actor.ts"
import { sayIn } from "./saying.ts"

type Rows = ReadonlyArray<ReadonlyArray<Button>>

const rowsOf = ({ message }: Post): Rows =>
  (message.body?.attachments ?? []).flatMap((attachment) =>
    attachment.type === "inline_keyboard" ? attachment.payload.buttons : []
  )

const textOf = (button: Button): string | undefined => (button.type === "unknown" ? undefined : button.text)

const payloadOf = (button: Button) => (button.type === "callback" ? button.payload : undefined)

const matching = (rows: Rows, ref: ButtonRef): ReadonlyArray<Button> => {
  if (typeof ref === "string") return rows.flat().filter((button) => textOf(button) === ref)
  if ("payload" in ref) return rows.flat().filter((button) => payloadOf(button) === ref.payload)
  const [row, column] = ref
  return (rows[row] ?? []).slice(column, column + 1)
}

const nameOf = (ref: ButtonRef): string => {
  if (typeof ref === "string") return `"${ref}"`
  return "payload" in ref ? `with the payload "${ref.payload}"` : `at row ${ref[0]}, column ${ref[1]}`
}

const pick = (actor: Actor, rows: Rows, ref: ButtonRef): Doing<Button> => {
  const found = matching(rows, ref)
  if (found.length === 1) return Effect.succeed(found[0])
  if (found.length > 1) {
    return cannot(actor, `there are ${found.length} buttons ${nameOf(ref)}: press one by its [row, column]`)
  }
  const there = rows.flat().map((button) => `"${textOf(button) ?? "of an unknown type"}"`)
  return cannot(actor, `there is no button ${nameOf(ref)}; there are ${there.length === 0 ? "none" : there.join(", ")}`)
}

const ownCard = ({ user }: Account): Attachment => ({
  type: "contact",
  payload: { vcf_info: `BEGIN:VCARD\r\nVERSION:3.0\r\nFN:${user.first_name}\r\nEND:VCARD`, user }
})

const call = (actor: Actor, post: Post, payload: string | null | undefined): Doing<string> => {
  const { self, world } = actor
  const bot = world.botOf(idOf(post.author))
  if (bot === undefined) return cannot(actor, "the keyboard is not a bot's")
  markActive(world, post.room, self)
  const callback_id = world.nextName("callback")
  const timestamp = world.now
  bot.presses.set(callback_id, { post, by: self, isAnswered: false })
  report(world, post.room, bot, {
    update_type: "message_callback",
    timestamp,
    callback: { timestamp, callback_id, user: self.user, ...(payload == null ? {} : { payload }) },
    ...(world.posts.has(post.mid) ? { message: present(world, post) } : {}),
    ...localeOf(actor)
  })
  return Effect.succeed(callback_id)
}

/** Presses a button under a message. */
export const pressing =
  (actor: Actor, ref: ButtonRef) =>
  (post: Post): Doing<string | undefined> =>
    Effect.flatMap(pick(actor, rowsOf(post), ref), (button): Doing<string | undefined> => {
      const say = (text: string, attachments: ReadonlyArray<Attachment> = []) =>
        Effect.as(sayIn(actor, post.room, text, { attachments }), undefined)
      switch (button.type) {
        case "callback":
          return call(actor, post, button.payload)
        case "message":
          return say(button.text)
        case "request_contact":
          return say("", [ownCard(actor.self)])
        case "request_geo_location":
          return say("", [{ type: "location", ...actor.self.location }])
        default:
          return cannot(actor, `pressing a button of the type ${button.type} tells the bot nothing`)
      }
    })
