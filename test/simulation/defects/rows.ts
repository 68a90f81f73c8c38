/** Defects of statements in the commits of updates. */
import type { Defect } from "./defect.ts"

const programs = ["rows"]

const operations = "inbox/internal/sqlite/operations.ts"

export const rowsDefects: ReadonlyArray<Defect> = [
  {
    name: "statements of a process that has lost the chat are executed",
    file: operations,
    find: 'if (lease === undefined || lease[0] !== ownerOf(each.owner)) return "leaseLost"',
    replace: `if (lease === undefined || lease[0] !== ownerOf(each.owner)) {
        executeAll(each.statements ?? none, () => {})
        return "leaseLost"
      }`,
    programs
  },
  {
    name: "statements of a commit that is repeated are executed again",
    file: operations,
    find: "if (isWhole && statements.length > 0) return applyWith",
    replace: "if (statements.length > 0) return applyWith",
    programs
  },
  {
    name: "a statement that fails leaves the statements before it",
    file: operations,
    find: "      database.transaction(() => {\n        run()",
    replace: "      ((apply: () => void) => apply())(() => {\n        run()",
    programs
  },
  {
    name: "the number of rows of a statement is not checked",
    file: operations,
    find: "else if (executed(statement) !== statement.expectedRows) throw new Conflict()",
    replace: "else executed(statement)",
    programs
  },
  {
    name: "statements of an attempt that failed are kept",
    file: "inbox/internal/consumer/changes.ts",
    find: "    this.#statements = [...this.#statements, statement]\n",
    replace: `    const { entry } = this as { readonly entry: Entry & { kept?: ReadonlyArray<Statement> } }
    entry.kept = this.#statements = [...(entry.kept ?? []), statement]
`,
    programs
  },
  {
    name: "the commits of a batch apply without each other",
    file: operations,
    find: "for (const each of commit.together === undefined ? [commit] : [commit, ...commit.together]) {",
    replace: "for (const each of commit.together === undefined ? [commit] : [commit]) {",
    programs
  },
  {
    name: "a batch that has lost an update is acknowledged",
    file: "inbox/internal/kernel/commits.ts",
    find: "if (updates.length !== batch.size) for",
    replace: "if (updates.length === 0) for",
    programs
  },
  {
    name: "updates of a batch that was committed without an answer are handled again",
    file: "inbox/internal/kernel/results.ts",
    find: "write.isUnanswered = true",
    replace: "write.isUnanswered = false",
    programs
  },
  {
    name: "a batch that has lost a chat waits for a renewal after the stream has closed",
    file: "inbox/internal/kernel/results.ts",
    find: "!this.#state.isOpen || renewals! < this.#leases.renewals",
    replace: "renewals! < this.#leases.renewals",
    programs,
    situation: "delays"
  }
]
