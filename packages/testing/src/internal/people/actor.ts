import * as Effect from "effect/Effect"
import { CannotDo } from "../../Person.ts"
import type { Account, Bot } from "../platform/model.ts"
import type { World } from "../platform/world.ts"

/** A person as they act: on the world, and towards one of its bots. */
export interface Actor {
  readonly world: World
  readonly bot: Bot
  readonly self: Account
}

export type Doing<A = void> = Effect.Effect<A, CannotDo>

export const cannot = ({ self }: Actor, problem: string): Doing<never> =>
  Effect.fail(new CannotDo({ who: self.user.first_name, problem }))

/** What comes with that which a person does in a dialog. */
export const localeOf = ({ self }: Actor) => (self.locale === undefined ? {} : { user_locale: self.locale })
