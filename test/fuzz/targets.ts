/** All targets of the fuzzer. */
import { botApi, commandLine, control } from "./emulator.ts"
import { responses } from "./responses.ts"
import { hasRedis, redisValues, sqliteRows } from "./stores.ts"
import type { Target } from "./target.ts"
import { deepLinks, markups, payloads } from "./texts.ts"
import { parsing, polling, webhook } from "./updates.ts"

export const targets = async (): Promise<ReadonlyArray<Target>> => [
  parsing,
  webhook,
  polling,
  ...responses,
  sqliteRows,
  ...((await hasRedis()) ? [redisValues] : []),
  payloads,
  deepLinks,
  ...markups,
  control,
  botApi,
  commandLine
]
