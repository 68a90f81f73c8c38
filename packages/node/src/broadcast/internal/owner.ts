import type { BroadcastStore } from "@colloquy/core/broadcast/BroadcastStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { readFileSync, readlinkSync } from "node:fs"
import type { Operations } from "../../base/internal/stores/operations.ts"

const read = (path: string): string | undefined => Result.getOrUndefined(Result.try(() => readFileSync(path, "utf8")))

/** The ids of processes are unique in this space until the machine restarts. Containers have spaces of their own. */
const makeSpace = (): string | undefined => {
  const boot = read("/proc/sys/kernel/random/boot_id")?.trim()
  if (boot === undefined) return undefined
  return Result.getOrUndefined(Result.try(() => `${boot}/${readlinkSync("/proc/self/ns/pid")}`))
}

const space = makeSpace()

/** The start time of a process, or `undefined` for a process that has ended. */
const startOf = (pid: string): string | undefined => {
  const stat = read(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The name of the program comes before, in parentheses.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return state === "Z" || state === "X" ? undefined : fields[18]
}

/** Names the owner of a lease with its process, where other processes of the machine can see whether that runs. */
export const ownerIn = (owner: string, pid: number = process.pid): string => {
  const start = space === undefined ? undefined : startOf(`${pid}`)
  return start === undefined ? owner : `${owner} ${space} ${pid} ${start}`
}

/** Whether a process without a readable `/proc` entry runs. A zombie process has a readable entry. */
const isRunning = (pid: number): boolean => {
  if (read(`/proc/${pid}/stat`) !== undefined) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { readonly code?: string }).code !== "ESRCH"
  }
}

/** Whether the process of an owner ran on this machine and has ended. */
export const isGone = (owner: string): boolean => {
  const [itsSpace, pid, start] = owner.split(" ").slice(-3)
  if (space === undefined || itsSpace !== space || pid === undefined) return false
  const found = startOf(pid)
  return found === undefined ? !isRunning(Number(pid)) : found !== start
}

export type Acquire = Operations<BroadcastStore["Service"]>["acquireLease"]

/** Acquires a lease, also from a process of this machine that ended without a release. */
export const acquireFromGone =
  (acquire: Acquire, ownerOf: (name: string) => Effect.Effect<string | null | undefined, unknown>): Acquire =>
  (request) => {
    const { name } = request
    const own = { ...request, owner: ownerIn(request.owner) }
    const takeOver = Effect.flatMap(ownerOf(name), (owner) => {
      if (owner == null || !isGone(owner)) return Effect.succeedNone
      return Effect.andThen(acquire({ name, owner, leaseDuration: 0, create: false }), acquire(own))
    })
    return Effect.flatMap(acquire(own), (summary) =>
      Option.isSome(summary) || !request.create ? Effect.succeed(summary) : takeOver
    )
  }
