import type { Person } from "@colloquy/testing/emulator/Person"
import type { Machine } from "../../packages/testing/src/simulation/internal/machine/machine.ts"
import type { Process } from "../../packages/testing/src/simulation/internal/world/process.ts"
import type { History } from "./history.ts"
import type { FaultName, Plan } from "./plan.ts"

/** What every file of the simulator needs. */
export interface Simulation extends Machine {
  readonly plan: Plan
  readonly history: History
  /** What the processes of the bot keep in a database of their own. */
  readonly shared: Map<string, unknown>
  /** The people who may delete any message of a chat. */
  readonly owners: Map<string, Person>
  /** Whether a fault happens now. Records the fault. */
  readonly strikes: (fault: FaultName, process: Process, detail?: string) => boolean
}
