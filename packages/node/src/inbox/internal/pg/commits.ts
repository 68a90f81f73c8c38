import type { Commit, CommitResult, RowWrite, Statement } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { isRetryableSql, retryConflicts } from "../../../base/internal/stores/sql.ts"
import { encodeIndexed, encodeText, isId } from "../../../base/internal/stores/values.ts"
import type { Parts } from "./functions.ts"
import { inlined } from "./inlined.ts"
import { isChecked, toJson, toRounds, toWrites } from "./rows.ts"

/** A commit and the commits that apply together with it. */
interface Unit {
  /** The commit is the first one. */
  readonly members: readonly [Located, ...ReadonlyArray<Located>]
  readonly rows: ReadonlyArray<RowWrite>
  readonly statements: ReadonlyArray<Statement>
  /** The statements with literals, or `undefined` if the unit is applied in a transaction of its own. */
  readonly texts: ReadonlyArray<string> | undefined
}

/** A commit with its owner and partition in stored form. */
const locate = (commit: Commit) => ({
  commit,
  k: encodeIndexed(commit.partitionKey),
  o: encodeIndexed(commit.owner)
})

type Located = Readonly<ReturnType<typeof locate>>

const toUnit = (commit: Commit): Unit => {
  const { rows = [], statements = [], together = [] } = commit
  if (together.length === 0) {
    const texts = statements.flatMap((statement) => inlined(statement) ?? [])
    return { members: [locate(commit)], rows, statements, texts: texts.length < statements.length ? undefined : texts }
  }
  const all = [commit, ...together]
  return {
    members: [locate(commit), ...together.map(locate)],
    rows: all.flatMap(({ rows = [] }) => rows),
    statements: all.flatMap(({ statements = [] }) => statements),
    texts: undefined
  }
}

/** How a unit is applied: with others, with others and their statements, or in a transaction of its own. */
const wayOf = ({ statements, texts }: Unit): "plain" | "inline" | "alone" =>
  texts === undefined ? "alone" : statements.length === 0 ? "plain" : "inline"

/** Commits of one owner in one partition are combined if they write no rows and execute no statements. */
const subjectsOf = (unit: Unit) => {
  const { members, rows } = unit
  const share = rows.length === 0 && wayOf(unit) === "plain" ? members[0].o : unit
  return [
    ...members.map(({ k }) => [`partition ${k}`, share] as const),
    ...rows.map(({ key }) => [`row ${key}`, unit] as const)
  ]
}

/** Constraints that are deferred to the end of a transaction belong to the statements. */
const checkConstraints: Statement = { sql: "SET CONSTRAINTS ALL IMMEDIATE", params: [] }

interface Outcome {
  readonly lost: ReadonlyArray<string> | null
  readonly repeated?: ReadonlyArray<string> | null
  readonly conflicts?: ReadonlyArray<string> | null
  /** The index of a commit that was refused, with all others, or -1 if the commit is unknown. */
  readonly refused?: number | null
  readonly wakes: boolean
}

const makeChange = ({ k, o }: Located) => ({
  k,
  o,
  acknowledged: Array<string>(),
  failures: Array<{ readonly k: string; readonly id: string; count: number }>(),
  deaths: Array<object>(),
  completed: new Set<string>(),
  begun: new Set<string>(),
  isReleased: false
})

/** The combined changes of an owner in a partition. */
type Change = ReturnType<typeof makeChange>

const addTo = (change: Change, { begun, completed, failed, release }: Commit): void => {
  const { k } = change
  const isQueued = (id: string) => isId(id) && !change.completed.has(id)
  for (const { failure, id } of completed) {
    if (!isQueued(id)) continue
    change.completed.add(id)
    change.begun.delete(id)
    if (failure === undefined) change.acknowledged.push(id)
    else {
      const { attempts, error, failedAt } = failure
      change.deaths.push({ k, id, error: encodeText(error), attempts, failed_at: failedAt })
    }
  }
  for (const id of failed.filter(isQueued)) {
    change.begun.delete(id)
    const known = change.failures.find((failure) => failure.id === id)
    if (known === undefined) change.failures.push({ k, id, count: 1 })
    else known.count++
  }
  for (const id of begun.filter(isQueued)) change.begun.add(id)
  if (release) change.isReleased = true
}

/** The updates that must be queued for rows and statements to apply. */
const requiredOf = ({ commit }: Located): string => commit.completed.map(({ id }) => (isId(id) ? id : "0")).join(",")

/**
 * A change as `commit` reads it: partition, owner, acknowledged, decided, begun, whether the partition is released, and the
 * updates that must be queued. After a release, no update is begun.
 */
const toChangeRow = (change: Change, required: string | undefined) => {
  const { acknowledged, begun, completed, failures, isReleased, k, o } = change
  const decided = isReleased ? [] : [...completed, ...failures.map(({ id }) => id), ...begun]
  return {
    k,
    o,
    a: acknowledged.join(","),
    d: decided.join(","),
    b: isReleased ? "" : [...begun].join(","),
    x: isReleased ? 1 : 0,
    c: required
  }
}

/** A commit of a transaction that was not applied. */
class Refusal {
  readonly result: CommitResult
  constructor(result: CommitResult) {
    this.result = result
  }
}

interface Options extends Pick<Parts, "functions" | "sql"> {
  /** Runs an effect in a transaction, and again if the database has rolled back because of a concurrent transaction. */
  readonly transact: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E | SqlError>
  /** Wakes the other processes. */
  readonly wake: () => void
}

/** The commits of an inbox. */
export const make = ({ functions, sql, transact, wake }: Options) => {
  /** `execute` executes the statements of the commits too, and `check` only checks and locks. */
  const call = Effect.fnUntraced(function* (
    units: ReadonlyArray<Unit>,
    what: "check" | "commit" | "execute",
    statements: ReadonlyArray<object> = []
  ) {
    const changes = new Map<string, Change>()
    const required = new Map<string, string>()
    const refused = new Set<Unit>()
    for (const unit of units) {
      for (const located of unit.members) {
        const { commit, k } = located
        const change = changes.get(k) ?? makeChange(located)
        changes.set(k, change)
        // The owner does not hold a partition that a commit before has released.
        if (change.isReleased) refused.add(unit)
        else addTo(change, commit)
        const isConditional = what === "check" || unit.statements.length > 0 || (commit.rows ?? []).length > 0
        if (isConditional) required.set(k, requiredOf(located))
      }
    }
    const all = [...changes.values()]
    const rows = units.flatMap(({ members, rows }) => toWrites(members[0].k, rows))
    const parameters = sql`
      ${JSON.stringify(all.map((change) => toChangeRow(change, required.get(change.k))))}::json,
      ${toJson(all.flatMap(({ failures }) => failures))}::json,
      ${toJson(all.flatMap(({ deaths }) => deaths))}::json,
      ${toJson(rows)}::json,
      ${units.some(({ rows }) => isChecked(rows))}`
    const [outcome] = yield* sql<Outcome>`SELECT * FROM ${
      what === "execute"
        ? sql`${functions.execute}(${JSON.stringify(statements)}::json, ${parameters})`
        : sql`${functions.commit}(${parameters}, ${what === "check"})`
    }`
    const isIn = (keys: ReadonlyArray<string> | null = null) => {
      const set = new Set(keys)
      return (unit: Unit): boolean => set.size > 0 && unit.members.some(({ k }) => set.has(k))
    }
    const isLost = isIn(outcome.lost)
    return {
      isLost: (unit: Unit) => refused.has(unit) || isLost(unit),
      isRepeated: isIn(outcome.repeated),
      isConflict: isIn(outcome.conflicts),
      refused: outcome.refused,
      wakes: outcome.wakes
    }
  })

  /** Applies commits by one statement. */
  const applyPlain = Effect.fnUntraced(function* (units: ReadonlyArray<Unit>) {
    const { isConflict, isLost, wakes } = yield* retryConflicts(call(units, "commit"))
    if (wakes) wake()
    return units.map((unit): CommitResult => (isLost(unit) ? "leaseLost" : isConflict(unit) ? "conflict" : "applied"))
  })

  const execute = Effect.fnUntraced(function* (index: number, { expectedRows, params, sql: text }: Statement) {
    const executed = yield* Effect.result(sql.unsafe(text, params).raw)
    if (Result.isFailure(executed)) {
      const error = executed.failure
      return yield* Effect.fail(isRetryableSql(error) ? error : new Refusal({ _tag: "StatementFailed", index, error }))
    }
    const { success } = executed
    const count = Predicate.hasProperty(success, "rowCount") ? success.rowCount : undefined
    if (expectedRows !== undefined && count !== expectedRows) return yield* Effect.fail(new Refusal("conflict"))
  })

  const attempt = Effect.fnUntraced(function* (unit: Unit) {
    const { isLost, isRepeated } = yield* call([unit], "check")
    if (isLost(unit)) return { wakes: false, result: "leaseLost" as const }
    if (isRepeated(unit) && unit.members.length > 1) return { wakes: false, result: "applied" as const }
    // The rest of a repeated commit applies, as a commit without statements.
    const statements = isRepeated(unit) ? [] : unit.statements
    for (const [index, statement] of statements.entries()) yield* execute(index, statement)
    if (statements.length > 0) yield* execute(statements.length - 1, checkConstraints)
    const { isConflict, wakes } = yield* call([unit], "commit")
    if (isConflict(unit)) return yield* Effect.fail(new Refusal("conflict"))
    return { wakes, result: "applied" as const }
  })

  /** Applies a commit in a transaction of its own. */
  const applyAlone = (unit: Unit): Effect.Effect<CommitResult, SqlError> =>
    Effect.matchEffect(transact(attempt(unit)), {
      onSuccess: ({ result, wakes }) => {
        if (wakes) wake()
        return Effect.succeed<CommitResult>(result)
      },
      onFailure: (failure) => (failure instanceof Refusal ? Effect.succeed(failure.result) : Effect.fail(failure))
    })

  /**
   * Applies commits whose statements the database executes in one round trip, all of them or none, and other commits with them. If
   * one of them is refused, it is applied alone, and so the others.
   */
  const applyInline = (units: ReadonlyArray<Unit>): Effect.Effect<ReadonlyArray<CommitResult>, SqlError> => {
    if (units.length === 0) return Effect.succeed([])
    if (units.every(({ statements }) => statements.length === 0)) return applyPlain(units)
    const statements = units.flatMap(({ members, statements, texts = [] }, u) =>
      texts.map((q, index) => ({ u, k: members[0].k, q, n: statements[index].expectedRows }))
    )
    return Effect.flatMap(retryConflicts(call(units, "execute", statements)), ({ isLost, refused, wakes }) => {
      if (refused === null || refused === undefined) {
        if (wakes) wake()
        return Effect.succeed(units.map((unit): CommitResult => (isLost(unit) ? "leaseLost" : "applied")))
      }
      if (units.length === 1) return Effect.map(applyAlone(units[0]), (result) => [result])
      const at = refused < 0 ? units.length >> 1 : refused
      const parts = [
        applyInline(units.slice(0, at)),
        refused < 0 ? Effect.succeed([]) : Effect.map(applyAlone(units[at]), (result) => [result]),
        applyInline(units.slice(refused < 0 ? at : at + 1))
      ]
      return Effect.map(Effect.all(parts), (results) => results.flat())
    })
  }

  const ways = {
    plain: applyPlain,
    inline: applyInline,
    alone: (units: ReadonlyArray<Unit>) => Effect.forEach(units, applyAlone)
  }

  /** Rounds have transactions of their own, because a commit that is repeated changes nothing. */
  return Effect.fnUntraced(function* (commits: ReadonlyArray<Commit>) {
    const results: Array<CommitResult> = []
    for (const units of toRounds(commits.map(toUnit), subjectsOf)) {
      const outcomes = new Map<Unit, CommitResult>()
      const hasInline = units.some((unit) => wayOf(unit) === "inline")
      const joined = (unit: Unit) => {
        const way = wayOf(unit)
        // A commit that cannot conflict takes no round trip of its own.
        return hasInline && way === "plain" && unit.rows.length === 0 ? "inline" : way
      }
      for (const [way, chosen] of Map.groupBy(units, joined)) {
        const applied = yield* ways[way](chosen)
        chosen.forEach((unit, index) => outcomes.set(unit, applied[index]))
      }
      results.push(...units.map((unit) => outcomes.get(unit) ?? "applied"))
    }
    return results
  })
}
