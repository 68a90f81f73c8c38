import type { Figure } from "../figure.ts"
import * as simulation from "../simulation/simulation.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "simulation-finds",
    measures: "planted defects that the simulator does not find within 300 seeds of each of their programs",
    unit: "defects",
    goal: 0,
    measure: simulation.missed
  },
  {
    figure: "simulation-seeds",
    measures: "seeds until the simulator finds a planted defect, median",
    unit: "seeds",
    goal: 50,
    also: { name: "worst", goal: 300 },
    measure: simulation.seeds
  },
  {
    figure: "simulation-speed",
    measures: "virtual hours that are simulated in an hour of CPU time, 100 seeds of all programs",
    unit: "hours",
    goal: 5000,
    isMinimum: true,
    measure: simulation.speed
  },
  {
    figure: "kernel-states",
    measures: "different states of two kernels and a store, at most 60,000 of each plan",
    unit: "states",
    goal: 1_000_000,
    isMinimum: true,
    also: { name: "violations", goal: 0 },
    measure: simulation.kernelStates
  }
]
