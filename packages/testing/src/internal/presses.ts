import type { Attachment } from "@colloquy/core/Attachment"
import type { Button } from "@colloquy/core/Keyboard"
import type { Message } from "@colloquy/core/Message"
import * as Effect from "effect/Effect"
import type { CannotDo, Person } from "../Person.ts"
import { report } from "./deliveries.ts"
import type { Account, Post, Room } from "./model.ts"
import { markActive } from "./rooms.ts"
import { present } from "./views.ts"
import type { World } from "./world.ts"

interface Presser {
  readonly world: World
  readonly self: Account
  readonly cannot: (problem: string) => Effect.Effect<never, CannotDo>
  readonly sayIn: (
    room: Room,
    text: string,
    options?: { readonly attachments: ReadonlyArray<Attachment> }
  ) => Effect.Effect<Message, CannotDo>
}

const rowsOf = ({ message }: Post): ReadonlyArray<ReadonlyArray<Button>> =>
  (message.body?.attachments ?? []).flatMap((attachment) =>
    attachment.type === "inline_keyboard" ? attachment.payload.buttons : []
  )

const textOf = (button: Button): string | undefined => (button.type === "unknown" ? undefined : button.text)

const ownCard = ({ user }: Account): Attachment => ({
  type: "contact",
  payload: { vcf_info: `BEGIN:VCARD\r\nVERSION:3.0\r\nFN:${user.first_name}\r\nEND:VCARD`, user }
})

const call = ({ cannot, self, world }: Presser, post: Post, payload: string | null | undefined) => {
  const bot = [...world.bots.values()].find(({ account }) => account === post.author)
  if (bot === undefined) return cannot("the keyboard is not a bot's")
  markActive(world, post.room, self)
  const callback_id = world.nextName("callback")
  const timestamp = world.now
  bot.presses.set(callback_id, { post, by: self, isAnswered: false })
  report(world, post.room, bot, {
    update_type: "message_callback",
    timestamp,
    callback: { timestamp, callback_id, user: self.user, ...(payload == null ? {} : { payload }) },
    ...(world.posts.has(post.mid) ? { message: present(world, post) } : {}),
    ...(self.locale === undefined ? {} : { user_locale: self.locale })
  })
  return Effect.succeed(callback_id)
}

/** Presses a button under a message. */
export const pressing =
  (presser: Presser, button: Parameters<Person["press"]>[1]) =>
  (post: Post): Effect.Effect<string | undefined, CannotDo> => {
    const { cannot, sayIn, self } = presser
    const rows = rowsOf(post)
    const found =
      typeof button === "string" ? rows.flat().find((each) => textOf(each) === button) : rows[button[0]]?.[button[1]]
    if (found === undefined) {
      const there = rows.flat().map((each) => `"${textOf(each) ?? "of an unknown type"}"`)
      const wanted = typeof button === "string" ? `"${button}"` : `at row ${button[0]}, column ${button[1]}`
      return cannot(`there is no button ${wanted}; there are ${there.length === 0 ? "none" : there.join(", ")}`)
    }
    switch (found.type) {
      case "callback":
        return call(presser, post, found.payload)
      case "message":
        return Effect.as(sayIn(post.room, found.text), undefined)
      case "request_contact":
        return Effect.as(sayIn(post.room, "", { attachments: [ownCard(self)] }), undefined)
      case "request_geo_location":
        return Effect.as(sayIn(post.room, "", { attachments: [{ type: "location", ...self.location }] }), undefined)
      default:
        return cannot(`pressing a button of the type ${found.type} tells the bot nothing`)
    }
  }
