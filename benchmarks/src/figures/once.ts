import { costsOf, ratio } from "../child.ts"
import type { Figure } from "../figure.ts"
import { lateness } from "../once/late.ts"
import * as once from "../once/once.ts"
import { concurrency, kills } from "../once/options.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "once-missing",
    measures:
      "messages that do not stand in the chats, of 600 updates (`--updates=N`) with three sends each, state and a timer that sends one, and 6 kills (`--kills=N`), on SQLite, PostgreSQL and Redis, with 1 and 3 processes, in chats that the bot may read",
    unit: "messages",
    goal: 0,
    measure: once.missing
  },
  {
    figure: "once-doubled",
    measures: "messages that stand in the chats twice, in the same runs",
    unit: "messages",
    goal: 0,
    measure: once.doubled
  },
  {
    figure: "once-doubled-unread",
    measures:
      "messages that stand in the chats twice, in the same runs in chats that the bot may not read, at most; the goal is the number of kills times the concurrency",
    unit: "messages",
    goal: kills * concurrency,
    also: { name: "not counted by `colloquy_journal_uncertain_total`", goal: 0 },
    measure: once.doubledUnread
  },
  {
    figure: "state-agrees",
    measures:
      "differences between the sums of the counters in the state and the number of acknowledged updates, in the runs of `once-missing`",
    unit: "updates",
    goal: 0,
    measure: once.disagreements
  },
  {
    figure: "timers-lost",
    measures:
      "timers that were not carried out, of 1,000 (`--timers=N`) with 6 kills (`--kills=N`), on SQLite, PostgreSQL and Redis, with 1 and 3 processes",
    unit: "updates",
    goal: 0,
    also: { name: "twice", goal: 0 },
    measure: once.timersLost
  },
  {
    figure: "timers-late-ms",
    measures:
      "99th percentile of the time from a timer being due to its handling, at 100 timers a second, the highest of SQLite, PostgreSQL and Redis",
    unit: "ms",
    goal: 50,
    also: { name: "ms with 3 processes", goal: 1000 },
    measure: lateness
  },
  {
    figure: "journal-cost",
    measures: "CPU time of a handler that sends a message, on SQLite, over the same with a call that is not recorded",
    unit: "ratio",
    goal: 1.3,
    measure: ratio(() => costsOf("once/costs.ts", "--expose-gc"), "with the journal", "without", "us CPU")
  }
]
