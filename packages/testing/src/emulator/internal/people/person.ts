import * as Effect from "effect/Effect"
import type { Person, UserRef } from "../../Person.ts"
import type { BotState, PlatformState, UserState } from "../platform/state.ts"
import { botOf, idOf } from "../platform/users.ts"
import { shownMessage, userIdOf } from "./access.ts"
import { openApp, pressButton } from "./buttons.ts"
import { commentActions } from "./comments.ts"
import { dialogActions } from "./dialogs.ts"
import { makeEventReader } from "./events.ts"
import { memberActions } from "./members.ts"
import { messageActions } from "./messages.ts"

const findBot = (state: PlatformState, ref: UserRef): BotState => {
  const bot = botOf(state, userIdOf(ref))
  if (bot === undefined) throw new RangeError(`Person.with: there is no bot ${userIdOf(ref)}`)
  return bot
}

/** Creates a person whose dialog is with `bot`. */
export const makePerson = (
  state: PlatformState,
  bot: BotState,
  self: UserState,
  events = makeEventReader(state, self)
): Person => {
  const actor = { state, bot, self }
  return {
    user: self.profile,
    user_id: idOf(self),
    with: (other) => makePerson(state, findBot(state, other), self, events),
    ...dialogActions(actor),
    ...messageActions(actor),
    press: (ref, button) => Effect.flatMap(shownMessage(actor, ref), pressButton(actor, button)),
    openApp: (ref, button) => Effect.flatMap(shownMessage(actor, ref), openApp(actor, button)),
    ...memberActions(actor),
    ...commentActions(actor),
    ...events
  }
}
