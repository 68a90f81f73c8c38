import * as Predicate from "effect/Predicate"
import type { Action, Block, Button, Next, Outcome } from "../../Menu.ts"

export const ButtonTypeId = "~@colloquy/core/Menu/Button"

export const BlockTypeId = "~@colloquy/core/Menu/Block"

export const OutcomeTypeId = "~@colloquy/core/Menu/Outcome"

export const makeOutcome = (next: Next, notification?: string): Outcome => ({
  [OutcomeTypeId]: OutcomeTypeId,
  next,
  notification
})

export const isOutcome = (u: unknown): u is Outcome => Predicate.hasProperty(u, OutcomeTypeId)

export const makeButton = <E = never, R = never>(text: string, action: Action<E, R>): Button<E, R> => ({
  [ButtonTypeId]: ButtonTypeId,
  text,
  action
})

export const isButton = (u: unknown): u is Button<unknown, unknown> => Predicate.hasProperty(u, ButtonTypeId)

export const makeBlock = <E, R, LoadE>(block: Omit<Block<E, R, LoadE>, typeof BlockTypeId>): Block<E, R, LoadE> => ({
  [BlockTypeId]: BlockTypeId,
  ...block
})

export const isBlock = (u: unknown): u is Block<unknown, unknown, unknown> => Predicate.hasProperty(u, BlockTypeId)
