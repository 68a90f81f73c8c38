import * as Effect from "effect/Effect"
import type * as Handler from "../../../inbox/Handler.ts"
import type { MenuMessage, Options } from "../../Menu.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import * as Payload from "../../../bot/Payload.ts"
import type { MessageId } from "../../../model/Recipient.ts"
import * as Update from "../../../model/Update.ts"
import type { UserId } from "../../../model/User.ts"
import { makeCodec, type ValueSchema } from "../../../bot/internal/handlers/namedValue.ts"
import { requirePart } from "../../../inbox/internal/handlers/current.ts"
import { payloadPrefix } from "../../../inbox/internal/handlers/dispatch.ts"
import { makePart } from "../../../inbox/internal/handlers/parts.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import { type Definition, layOut, type Render, toMessage } from "./layout.ts"
import { rehearsedBy } from "../../../inbox/internal/rehearsal.ts"
import { placeOf, Pressed } from "./location.ts"
import { makePress, rehearse } from "./press.ts"

type Callback = Update.Of<"message_callback">

/** A page and its parameters, which may be left out. */
type To = ReadonlyArray<unknown>

/** Returns the message of a page, for the user of an update, or for the given one. */
const show = (
  menu: Definition,
  [page = "main", params]: To,
  given: { readonly update?: Update.Update; readonly user_id?: UserId | undefined } = {}
): Effect.Effect<MenuMessage, unknown, unknown> =>
  Effect.withFiber((fiber) => {
    const update = given.update ?? fiber.getRef(CurrentUpdate)?.changes?.update
    return Effect.gen(function* () {
      yield* requirePart({ kind: "menu", name: menu.name }, menu)
      const place = yield* placeOf(menu, String(page), params)
      const owner = menu.isOwned ? (given.user_id ?? (update && Update.userIdOf(update))) : undefined
      if (menu.isOwned && owner === undefined) {
        return yield* menu.invalid(
          String(page),
          "it belongs to a user, and no user is known. Use `reply`, or `send` with the `user_id`"
        )
      }
      const layout = yield* layOut(menu, [place], update)
      return yield* toMessage(layout, owner, true)
    })
  })

/** Creates a menu, without its types. */
export const make = (
  name: string,
  pages: Readonly<Record<string, ValueSchema>>,
  renders: Readonly<Record<string, Render>>,
  options: Options,
  invalid: Definition["invalid"]
) => {
  if (!/^\w+$/.test(name)) throw new Error(`The menu "${name}" needs a name of letters, digits and _.`)
  const { version = 1 } = options
  if (!Number.isSafeInteger(version) || version < 1)
    throw new Error(`The menu "${name}" needs a \`version\` that is a positive whole number.`)
  const menu: Definition = {
    name,
    codecs: new Map(Object.entries(pages).map(([page, schema]) => [page, makeCodec(schema)])),
    invalid,
    renders: new Map(Object.entries(renders)),
    payload: Payload.make(payloadPrefix.menu + name, Pressed),
    isOwned: options.of === "userInChat",
    version
  }
  const handle = menu.payload.on((update, pressed) => makePress(menu, options, update).press(pressed))
  const handlePress = (update: Update.Update): Handler.Return => {
    const handled = handle(update)
    if (handled === undefined) return undefined
    const caught = Effect.catchIf(
      handled,
      (error) => error instanceof Payload.MalformedPayload && error.payloadName === payloadPrefix.menu + name,
      () => makePress(menu, options, update as Callback).outdated([])
    )
    return rehearsedBy(caught, rehearse(menu, update as Callback))
  }
  const members = {
    name,
    message: (...to: To) => show(menu, to),
    reply: (update: Update.Repliable, ...to: To) =>
      Effect.flatMap(show(menu, to, { update }), (message) => Messages.reply(update, message)),
    send: (to: Messages.To, ...page: To) =>
      Effect.flatMap(show(menu, page, { user_id: to.user_id }), (message) => Messages.send({ ...message, ...to })),
    edit: (message_id: MessageId, ...to: To) =>
      Effect.flatMap(show(menu, to), ({ disable_link_preview: _, ...message }) =>
        Messages.edit({ ...message, message_id })
      )
  }
  return makePart({ kind: "menu", name, definition: menu, handle: handlePress }, members)
}
