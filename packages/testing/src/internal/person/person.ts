import * as Effect from "effect/Effect"
import type { Person } from "../../Person.ts"
import type { Account, Bot } from "../model.ts"
import { idOf, type World } from "../world.ts"
import { shownPost } from "./access.ts"
import { commenting } from "./commenting.ts"
import { dialogs } from "./dialogs.ts"
import { makeEar } from "./ear.ts"
import { memberships } from "./membership.ts"
import { pressing } from "./pressing.ts"
import { sayings } from "./saying.ts"

/** A person, who acts on the world and writes to `bot` in their dialog. */
export const makePerson = (world: World, bot: Bot, self: Account): Person => {
  const actor = { world, bot, self }
  return {
    user: self.user,
    user_id: idOf(self),
    ...dialogs(actor),
    ...sayings(actor),
    press: (ref, button) => Effect.flatMap(shownPost(actor, ref), pressing(actor, button)),
    ...memberships(actor),
    ...commenting(actor),
    ...makeEar(world, self)
  }
}
