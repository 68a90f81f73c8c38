/** All programs. */
import type { Recording, Violation } from "../auditor/recording.ts"
import type { ProgramPlan } from "../plan.ts"
import type { Simulation } from "../simulation.ts"
import type { Dice } from "../../../packages/testing/src/simulation/internal/world/dice.ts"
import { broadcasts } from "./broadcasts/broadcasts.ts"
import { conversations } from "./conversations/conversations.ts"
import { handlers } from "./handlers/handlers.ts"
import { live } from "./live/live.ts"
import { menus } from "./menus/menus.ts"
import { pipelines } from "./pipelines/pipelines.ts"
import type { Host, Program } from "./program.ts"
import { rows } from "./rows/rows.ts"
import { scenes } from "./scenes/scenes.ts"

const erased = <P>(program: Program<P>): Program<unknown> => program as unknown as Program<unknown>

/** Programs with how often each is chosen. The plan of a program is only read by the program that made it. */
const programs: Readonly<Record<string, { readonly weight: number; readonly program: Program<unknown> }>> = {
  handlers: { weight: 4, program: erased(handlers) },
  pipelines: { weight: 3, program: erased(pipelines) },
  conversations: { weight: 2, program: erased(conversations) },
  menus: { weight: 1, program: erased(menus) },
  scenes: { weight: 1, program: erased(scenes) },
  live: { weight: 2, program: erased(live) },
  broadcasts: { weight: 1, program: erased(broadcasts) },
  rows: { weight: 2, program: erased(rows) }
}

export const programKinds: ReadonlyArray<string> = Object.keys(programs)

const programOf = ({ kind }: ProgramPlan): Program<unknown> => {
  const known = programs[kind]
  if (known === undefined) throw new Error(`There is no program "${kind}". Programs: ${programKinds.join(", ")}.`)
  return known.program
}

/** Makes the plan of a program. Default of `kind`: the dice choose it. */
export const planProgram = (dice: Dice, kind?: string): ProgramPlan => {
  const chosen = kind ?? dice.weighted(Object.entries(programs).map(([kind, { weight }]) => [weight, kind] as const))
  return { kind: chosen, plan: programOf({ kind: chosen, plan: undefined }).plan(dice) }
}

/** The plan of a program whose handlers take time, and do little else. */
export const calmer = (plan: ProgramPlan): ProgramPlan => ({
  kind: plan.kind,
  plan: programOf(plan).calmer?.(plan.plan) ?? plan.plan
})

export const smallerPrograms = (plan: ProgramPlan): ReadonlyArray<ProgramPlan> =>
  programOf(plan)
    .smaller(plan.plan)
    .map((smaller) => ({ kind: plan.kind, plan: smaller }))

export const botOf = (plan: ProgramPlan, host: Host): ReturnType<Program<unknown>["bot"]> =>
  programOf(plan).bot(plan.plan, host)

export const peopleOf = (plan: ProgramPlan, simulation: Simulation): ReturnType<Program<unknown>["people"]> =>
  programOf(plan).people(plan.plan, simulation)

export const auditProgram = (plan: ProgramPlan, recording: Recording): ReadonlyArray<Violation> =>
  programOf(plan).audit(plan.plan, recording)
