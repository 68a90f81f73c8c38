import type { Figure } from "../figure.ts"
import { copies } from "../copies.ts"
import { journalCost, silentCost } from "../once/journalCost.ts"
import { lateness } from "../once/late.ts"
import * as once from "../once/once.ts"
import { concurrency, kills } from "../once/options.ts"
import { stateRaces } from "../once/stateRaces.ts"

export const figures: ReadonlyArray<Figure> = [
  {
    figure: "retry-copies",
    measures: "copies of a message whose handler fails five times after it was sent",
    unit: "requests",
    goal: 1,
    measure: copies
  },
  {
    figure: "state-races",
    measures:
      "changes of a person's state that are lost when the person presses a button in two chats at once, 1,000 times, in memory and on SQLite, PostgreSQL and Redis with one and two processes",
    unit: "updates",
    goal: 0,
    measure: stateRaces
  },
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
    measure: journalCost
  },
  {
    figure: "journal-cost-silent",
    measures:
      "CPU time of an update whose handler does nothing, on SQLite, over the same on a store whose state and timers are never asked",
    unit: "ratio",
    goal: 1.02,
    measure: silentCost
  }
]
