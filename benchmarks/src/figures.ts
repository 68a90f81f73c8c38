/** The figures, in the order in which they are measured and printed. */
import type { Figure } from "./figure.ts"
import * as client from "./figures/client.ts"
import * as project from "./figures/project.ts"
import * as emulator from "./figures/emulator.ts"
import * as limits from "./figures/limits.ts"
import * as updates from "./figures/updates.ts"
import * as inbox from "./figures/inbox.ts"
import * as stores from "./figures/stores.ts"
import * as once from "./figures/once.ts"
import * as conversations from "./figures/conversations.ts"
import * as live from "./figures/live.ts"
import * as simulation from "./figures/simulation.ts"

export const figures: ReadonlyArray<Figure> = [
  ...client.figures,
  ...project.figures,
  ...emulator.figures,
  ...limits.figures,
  ...updates.figures,
  ...inbox.figures,
  ...stores.figures,
  ...once.figures,
  ...conversations.figures,
  ...live.figures,
  ...simulation.figures
]
