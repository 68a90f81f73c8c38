import type { Statement } from "../../InboxStore.ts"
import type { Queued } from "../kernel/delivery.ts"
import type { Refused } from "../kernel/write.ts"
import type { HandledUpdate } from "./currentUpdate.ts"
import type { Refusal } from "./settlement.ts"

/** Why a statement cannot be added. */
export type Problem = "noUpdate" | "acknowledged" | "branches" | "inboxes" | "store"

/** Where an attempt adds the statements that are executed when its update, or its group of updates, is acknowledged. */
export interface StatementList {
  /** Returns the reason if the statement cannot be added. */
  readonly addStatement: (statement: Statement) => Problem | undefined
}

/** How often in succession the rows of an attempt may be other rows than the handler expected, before the attempt fails. */
const maxConflicts = 20

/** Returns the error if the attempt has failed. Otherwise, the attempt begins again. */
export const refusalOf = ({ claimed, conflicts }: Queued, refused: Refused): Refusal | undefined => {
  if (typeof refused === "object") return { error: refused.error }
  if (conflicts < maxConflicts || refused !== "conflict") return undefined
  if (claimed.change?.statements?.some(({ expectedRows }) => expectedRows !== undefined) !== true) return undefined
  return {
    error: new Error(
      `The commit of the update conflicted ${conflicts + 1} times. Does a statement of Commit.add change or return the number of ` +
        "rows that its option `expectedRows` says?"
    )
  }
}

/** The attempt to handle a group of updates. The updates have no journal and no changes in common. */
export class GroupAttempt implements HandledUpdate, StatementList {
  readonly #problem: Problem | undefined
  #statements: ReadonlyArray<Statement> = []
  #isClosed = false

  constructor(updates: ReadonlyArray<Queued>, isBranch: boolean) {
    const origin = updates[0]?.origin
    if (isBranch) this.#problem = "branches"
    else if (updates.some((update) => update.origin !== origin)) this.#problem = "inboxes"
    else if (origin?.store.executesStatements !== true) this.#problem = "store"
  }

  get statements(): StatementList {
    return this
  }

  addStatement(statement: Statement): Problem | undefined {
    if (this.#problem !== undefined) return this.#problem
    if (this.#isClosed) return "acknowledged"
    this.#statements = [...this.#statements, statement]
    return undefined
  }

  /** Returns the statements. No more are added. */
  close(): ReadonlyArray<Statement> {
    this.#isClosed = true
    return this.#statements
  }
}
