import type * as Rehearsal from "@colloquy/core/inbox/Rehearsal"
import type { Color } from "../base/output.ts"
import type { Predicted } from "./parked.ts"

type Outcome = Rehearsal.Prediction["outcome"]

/** Stored data of one kind with one outcome. */
export interface Group extends Omit<Predicted, "at"> {
  count: number
  /** The scopes of the first values, or the ids of the first updates. */
  readonly examples: Array<string>
}

const maxExamples = 3

const verbs: { readonly [O in Outcome]: string } = {
  continues: "goes on",
  asks: "asks",
  sleeps: "sleeps",
  runs: "runs the step",
  moves: "moves",
  ends: "ends",
  restarts: "begins again",
  outdated: "is out of date",
  stale: "cannot be read",
  unhandled: "has no handler",
  newer: "waits for the newer program",
  fails: "fails",
  unknown: "cannot be rehearsed"
}

export const outcomes = Object.keys(verbs) as ReadonlyArray<Outcome>

/** Nobody answers to these: data are lost, wait without an end, or fail. */
const problems: ReadonlySet<Outcome> = new Set(["outdated", "stale", "unhandled", "newer", "fails", "unknown"])

/** A group, and whether its outcome is a problem. */
export interface Judged extends Group {
  readonly is_problem: boolean
}

/** Judges a group. With `isStrict`, everything that does not continue is a problem, except the allowed outcomes. */
export const judge = (group: Group, allowed: ReadonlyArray<Outcome>, isStrict: boolean): Judged => {
  const { outcome } = group
  const isUnwanted = problems.has(outcome) || (isStrict && outcome !== "continues")
  return { ...group, is_problem: isUnwanted && !allowed.includes(outcome) }
}

/** Adds data to their group. */
export const add = (groups: Map<string, Group>, { at, ...predicted }: Predicted): Map<string, Group> => {
  const { detail, kind, name, outcome } = predicted
  const isExpected = outcome === "continues"
  const key = JSON.stringify([kind, name, outcome, isExpected ? undefined : detail])
  const group = groups.get(key) ?? {
    kind,
    name,
    outcome,
    ...(isExpected || detail === undefined ? {} : { detail }),
    count: 0,
    examples: []
  }
  group.count++
  if (group.examples.length < maxExamples) group.examples.push(at)
  return groups.set(key, group)
}

/** Whether the detail is an object of the verb, and not a reason. */
const isObject = (outcome: Outcome): boolean => ["asks", "sleeps", "runs", "moves"].includes(outcome)

export const describe = ({ count, detail, examples, is_problem, kind, name, outcome }: Judged): string => {
  const mark = is_problem ? "problem " : outcome === "continues" ? "ok      " : "change  "
  const said = detail === undefined ? "" : isObject(outcome) ? ` ${detail}` : `: ${detail}`
  const shown = outcome === "continues" ? "" : `\n         such as ${examples.join(", ")}`
  return `${mark} ${kind} ${name} (${count}): ${verbs[outcome]}${said}${shown}`
}

/** The color of a group, by its outcome. */
export const colorOf = ({ is_problem, outcome }: Judged): Color =>
  is_problem ? "red" : outcome === "continues" ? "green" : "yellow"
