import * as Effect from "effect/Effect"
import type { Person, UserRef } from "../../Person.ts"
import type { UserState, BotState } from "../platform/model.ts"
import { userIdOf } from "../platform/refs.ts"
import { idOf, type PlatformState } from "../platform/state.ts"
import { shownMessage } from "./access.ts"
import { commenting } from "./comments.ts"
import { dialogs } from "./dialogs.ts"
import { makeEar } from "./events.ts"
import { memberships } from "./members.ts"
import { pressing } from "./buttons.ts"
import { messaging } from "./messages.ts"

const botOf = (state: PlatformState, ref: UserRef): BotState => {
  const bot = state.botOf(userIdOf(ref))
  if (bot === undefined) throw new RangeError(`Person.with: there is no bot ${userIdOf(ref)}`)
  return bot
}

/** A person, who acts on the world and writes to `bot` in their dialog. */
export const makePerson = (
  state: PlatformState,
  bot: BotState,
  self: UserState,
  ear = makeEar(state, self)
): Person => {
  const actor = { state, bot, self }
  return {
    user: self.profile,
    user_id: idOf(self),
    with: (other) => makePerson(state, botOf(state, other), self, ear),
    ...dialogs(actor),
    ...messaging(actor),
    press: (ref, button) => Effect.flatMap(shownMessage(actor, ref), pressing(actor, button)),
    ...memberships(actor),
    ...commenting(actor),
    ...ear
  }
}
