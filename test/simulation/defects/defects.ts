import type { Defect } from "./defect.ts"
import { inboxDefects } from "./inbox.ts"
import { journalDefects } from "./journal.ts"
import { rowsDefects } from "./rows.ts"
import { stateDefects } from "./state.ts"

export const defects: ReadonlyArray<Defect> = [...inboxDefects, ...journalDefects, ...rowsDefects, ...stateDefects]
