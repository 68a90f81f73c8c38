/** How rules and stories read the history of a simulation. */
import type { History } from "../Simulation.ts"
import type { SimulationEvent } from "../SimulationEvent.ts"

export type Of<Type extends SimulationEvent["type"]> = Extract<SimulationEvent, { readonly type: Type }>

export const ofType = <Type extends SimulationEvent["type"]>(
  { events }: History,
  type: Type
): ReadonlyArray<Of<Type>> => events.filter((event): event is Of<Type> => event.type === type)
