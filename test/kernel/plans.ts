/** What is explored. */
import type { Faults, Plan } from "./plan.ts"

const none: Faults = { kills: 0, losses: 0, expiries: 0, delays: 0 }

/** At most this many faults of each kind, in all orders. */
const faults = (some: Partial<Faults>): Faults => ({ ...none, ...some })

/** The first process handles a slow update, and the second one has nothing to do. */
const asleep = [
  "claim of A is carried out",
  "A gets the answer to claim",
  "A pulls",
  "ask of A is carried out",
  "A gets the answer to ask",
  "claim of B is carried out",
  "B gets the answer to claim",
  "ask of B is carried out",
  "B gets the answer to ask",
  "time passes",
  "the timer of A"
]

/** The first process renews its lease. */
const renewing = [
  ...asleep,
  "claim of A is carried out",
  "A gets the answer to claim",
  "the timer of B",
  "claim of B is carried out",
  "B gets the answer to claim",
  "time passes",
  "the timer of A"
]

/** The first process claims more, and nobody answers while its lease ends. The second process claims the update. */
const late = [
  ...asleep,
  "5000 ms pass: a lease ends",
  "the timer of B",
  "claim of B is carried out",
  "B gets the answer to claim",
  "B pulls"
]

/** The other process handles the update, and a further update arrives. */
const laterUpdate = [
  ...late,
  "record of B is carried out",
  "B gets the answer to record",
  "send of B is carried out",
  "B gets the answer to send",
  "record of B is carried out",
  "B gets the answer to record",
  "commit of B is carried out",
  "B gets the answer to commit",
  "u2 arrives"
]

export const plans: ReadonlyArray<Plan> = [
  { name: "one", chats: [["u1"]], faults: faults({}) },
  { name: "two", chats: [["u1", "u2"]], faults: faults({}) },
  { name: "late", chats: [["u1"]], faults: faults({ delays: 1, losses: 1 }) },
  { name: "expiry", chats: [["u1", "u2"]], faults: faults({ expiries: 1 }) },
  { name: "loss", chats: [["u1", "u2"]], faults: faults({ losses: 1 }) },
  { name: "kill", chats: [["u1", "u2"]], faults: faults({ kills: 1 }) },
  { name: "chats", chats: [["u1"], ["u2"]], faults: faults({ losses: 1 }) },
  { name: "chats expire", chats: [["u1"], ["u2"]], slow: ["u1"], faults: faults({ expiries: 1 }) },
  { name: "unknown", chats: [["u1"], []], arriving: "u2", slow: ["u1"], faults: faults({ losses: 1 }) },
  { name: "slow expiry", chats: [["u1"]], slow: ["u1"], faults: faults({ expiries: 1 }) },
  { name: "late renewal", chats: [["u1"]], slow: ["u1"], given: renewing, faults: faults({ expiries: 1, losses: 1 }) },
  { name: "lost", chats: [["u1"]], failing: ["u1"], faults: faults({ expiries: 1, losses: 1 }) },
  { name: "expiries", chats: [["u1"]], faults: faults({ expiries: 2 }) },
  { name: "late claim", chats: [["u1"]], slow: ["u1"], given: late, faults: faults({ expiries: 2, losses: 1 }) },
  {
    name: "late claims",
    chats: [["u1"]],
    arriving: "u2",
    slow: ["u1"],
    given: laterUpdate,
    faults: faults({ expiries: 1, losses: 1 })
  },
  { name: "retry", chats: [["u1"]], failing: ["u1"], faults: faults({ expiries: 1 }) },
  { name: "retry loss", chats: [["u1"], ["u2"]], failing: ["u1"], faults: faults({ losses: 1 }) },
  { name: "conflict", chats: [["u1", "u2"]], conflicting: ["u1"], faults: faults({ losses: 1 }) },
  { name: "slow", chats: [["u1"]], slow: ["u1"], faults: faults({ delays: 1, losses: 1 }) },
  { name: "stop", chats: [["u1", "u2"]], ends: "stop", faults: faults({ losses: 1 }) },
  { name: "close", chats: [["u1", "u2"]], ends: "close", faults: faults({ expiries: 1 }) },
  { name: "close slow", chats: [["u1"]], slow: ["u1"], failing: ["u1"], ends: "close", faults: faults({ losses: 1 }) },
  { name: "woken", chats: [["u1"]], arriving: "u2", isWoken: true, faults: faults({ losses: 1 }) },
  { name: "polled", chats: [["u1"]], arriving: "u2", faults: faults({ losses: 1 }) },
  { name: "crashing", chats: [["u1"], ["u2"]], crashingAfter: 1, faults: faults({ kills: 1 }) },
  { name: "together", chats: [["u1", "u2"]], perChat: 2, faults: faults({ kills: 1 }) },
  { name: "finite", chats: [["u1", "u2"]], isFinite: true, faults: faults({ delays: 1 }) }
]
