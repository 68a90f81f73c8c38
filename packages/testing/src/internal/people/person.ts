import * as Effect from "effect/Effect"
import type { Person, UserRef } from "../../Person.ts"
import type { Account, Bot } from "../platform/model.ts"
import { userIdOf } from "../platform/refs.ts"
import { idOf, type World } from "../platform/world.ts"
import { shownPost } from "./access.ts"
import { commenting } from "./commenting.ts"
import { dialogs } from "./dialogs.ts"
import { makeEar } from "./ear.ts"
import { memberships } from "./membership.ts"
import { pressing } from "./pressing.ts"
import { sayings } from "./saying.ts"

const botOf = (world: World, ref: UserRef): Bot => {
  const bot = world.botOf(userIdOf(ref))
  if (bot === undefined) throw new RangeError(`Person.with: there is no bot ${userIdOf(ref)}`)
  return bot
}

/** A person, who acts on the world and writes to `bot` in their dialog. */
export const makePerson = (world: World, bot: Bot, self: Account, ear = makeEar(world, self)): Person => {
  const actor = { world, bot, self }
  return {
    user: self.user,
    user_id: idOf(self),
    with: (other) => makePerson(world, botOf(world, other), self, ear),
    ...dialogs(actor),
    ...sayings(actor),
    press: (ref, button) => Effect.flatMap(shownPost(actor, ref), pressing(actor, button)),
    ...memberships(actor),
    ...commenting(actor),
    ...ear
  }
}
