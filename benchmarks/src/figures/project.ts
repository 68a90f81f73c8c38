import type { Figure } from "../figure.ts"
import { installed, projectStart } from "../project.ts"
import { typesCost } from "../types.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "install",
    measures: "packages that `npm install @colloquy/core @colloquy/node effect` brings, none with an install script",
    unit: "packages",
    goal: 25,
    also: { name: "MB", goal: 90 },
    measure: installed
  },
  {
    figure: "project-start",
    measures:
      "time from the start of Node to the first request of the bundled bot of a new project, started as in its container, over the same bot on grammY; and resident memory of the waiting bot over the same",
    unit: "ratio",
    goal: 1.5,
    also: { name: "resident memory", goal: 1.2 },
    measure: projectStart
  },
  {
    figure: "types-over-effect",
    measures:
      "time of `tsc --noEmit` for a bot with 30 commands and 3 conversations, over a program of the same length with Effect and schemas alone, with TypeScript 7; and with TypeScript 6",
    unit: "ratio",
    goal: 1.2,
    also: { name: "with TypeScript 6", goal: 1.2 },
    measure: typesCost
  }
]
