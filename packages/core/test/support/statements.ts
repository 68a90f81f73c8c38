import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlError, UniqueViolation } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import { StoreError } from "../../src/base/StoreError.ts"
import * as InboxStore from "../../src/inbox/InboxStore.ts"

type Store = InboxStore.InboxStore["Service"]

/** Makes statements that only a commit executes. */
export const sql = Statement.make(Effect.die("executed by a client"), Statement.makeCompilerSqlite(), [], undefined)

export const refused = new SqlError({ reason: new UniqueViolation({ cause: "refused", constraint: "rows" }) })

/**
 * A shared store in memory that executes statements: each stores its parameters as a row. A statement with the parameter
 * `bad` fails, and a statement that expects a number of rows changes `changed()` rows. `lost` are partitions that
 * another process holds. `isAnswered` says whether the answer to commits that were applied arrives.
 */
export const makeStatementStore = (
  options: {
    readonly changed?: () => number
    readonly isAnswered?: (commits: ReadonlyArray<InboxStore.Commit>) => boolean
  } = {}
) =>
  Effect.map(InboxStore.makeMemory, (memory) => {
    const rows: Array<ReadonlyArray<unknown>> = []
    const commits: Array<InboxStore.Commit> = []
    const lost = new Set<string>()

    const statementsOf = (all: ReadonlyArray<InboxStore.Commit>) => all.flatMap(({ statements = [] }) => statements)

    const resultOf = (all: ReadonlyArray<InboxStore.Commit>): InboxStore.CommitResult => {
      if (all.some(({ partitionKey }) => lost.has(partitionKey))) return "leaseLost"
      const statements = statementsOf(all)
      for (const [index, { expectedRows, params }] of statements.entries()) {
        if (params.includes("bad")) return { _tag: "StatementFailed", index, error: refused }
        if (expectedRows !== undefined && options.changed?.() !== expectedRows) return "conflict"
      }
      return "applied"
    }

    const store: Store = {
      ...memory,
      isShared: true,
      executesStatements: true,
      commit: (all) =>
        Effect.forEach(all, ({ statements, together = [], ...first }) => {
          const parts = [{ ...first, statements }, ...together]
          commits.push({ ...first, statements, together })
          const result = resultOf(parts)
          if (result !== "applied") return Effect.succeed(result)
          const applied = memory.commit(parts.map(({ statements: _, ...commit }) => commit))
          return Effect.map(applied, (results) => {
            const refused = results.find((one) => one !== "applied")
            if (refused === undefined) rows.push(...statementsOf(parts).map(({ params }) => params))
            return refused ?? "applied"
          })
        }).pipe(
          Effect.filterOrFail(
            () => options.isAnswered?.(all) ?? true,
            () => new StoreError({ store: "inbox", operation: "commit", reason: "no answer", isRetryable: true })
          )
        ),
      renew: (owner, leaseDuration) =>
        Effect.map(memory.renew(owner, leaseDuration), (keys) => keys.filter((key) => !lost.has(key)))
    }
    return { store, rows, commits, lost }
  })

/** The store, and the service that `Commit.add` requires. */
export const layerOf = (store: Store): Layer.Layer<InboxStore.InboxStore | InboxStore.SqlTransactions> =>
  Layer.merge(Layer.succeed(InboxStore.InboxStore, store), Layer.succeed(InboxStore.SqlTransactions, "sqlite"))
