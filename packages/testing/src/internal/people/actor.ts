import * as Effect from "effect/Effect"
import { PersonError } from "../../Person.ts"
import type { UserState, BotState } from "../platform/model.ts"
import type { PlatformState } from "../platform/state.ts"

/** A person as they act: on the world, and towards one of its bots. */
export interface Actor {
  readonly state: PlatformState
  readonly bot: BotState
  readonly self: UserState
}

export type Action<A = void> = Effect.Effect<A, PersonError>

export const cannot = ({ self }: Actor, problem: string): Action<never> =>
  Effect.fail(new PersonError({ person: self.profile.first_name, reason: problem }))

/** What comes with that which a person does in a dialog. */
export const localeOf = ({ self }: Actor) => (self.locale === undefined ? {} : { user_locale: self.locale })
