/** What a program of the simulator consists of: a bot, people who use it, and rules of what must have happened. */
import type { BotApi } from "@colloquy/core/client/BotApi"
import type { BroadcastStore } from "@colloquy/core/broadcast/BroadcastStore"
import type { Inbox } from "@colloquy/core/inbox/Inbox"
import type { SqlTransactions } from "@colloquy/core/inbox/InboxStore"
import type * as Bot from "@colloquy/core/bot/Bot"
import type * as Updates from "@colloquy/core/inbox/Updates"
import type * as Emulator from "@colloquy/testing/emulator/Emulator"
import type * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { StoreError } from "@colloquy/core/base/StoreError"
import type { Recording, Violation } from "../auditor/recording.ts"
import type { Simulation } from "../simulation.ts"
import type { AuthorRows } from "../sqlite.ts"
import type { Dice } from "../../../packages/testing/src/simulation/internal/world/dice.ts"
import type { Process } from "../../../packages/testing/src/simulation/internal/world/process.ts"

export interface Author {
  /** Makes statements. */
  readonly sql: SqlClient
  readonly rows: Effect.Effect<AuthorRows, StoreError>
}

/** A process that runs the bot of a program. */
export interface Host extends Simulation {
  readonly process: Process
  /** The version of the bot, 1 or 2. During a rolling deploy, processes with both versions run. */
  readonly version: number
  /** The options with which updates are handled. */
  readonly runOptions: Bot.RunOptions
  /** The tables of the author, as the process reaches them. `undefined`: the store is in memory. */
  readonly author: Author | undefined
}

export interface Program<P> {
  /** Makes a plan, which is JSON. */
  readonly plan: (dice: Dice) => P
  /** Plans that are smaller than this one, the smallest first. */
  readonly smaller: (plan: P) => ReadonlyArray<P>
  /** The plan with handlers that take time, and do little else. */
  readonly calmer?: (plan: P) => P
  /** The bot, which every process runs. */
  readonly bot: (
    plan: P,
    host: Host
  ) => Effect.Effect<unknown, unknown, BotApi | BroadcastStore | Inbox | SqlTransactions | Updates.Updates>
  /** What people do. It ends when they are done. */
  readonly people: (plan: P, simulation: Simulation) => Effect.Effect<unknown, unknown, Emulator.Emulator>
  /** The rules of this program. */
  readonly audit: (plan: P, recording: Recording) => ReadonlyArray<Violation>
}
