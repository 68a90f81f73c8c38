import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly firstLine: Effect.Effect<string>
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  readonly ended: Effect.Effect<Ended>
}

const listen = (child: ChildProcess): Running => {
  let stdout = ""
  let stderr = ""
  let ended: Ended | undefined
  const waiting = new Set<() => void>()
  const change = () => waiting.forEach((wake) => wake())
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => ((stdout += chunk), change()))
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => ((stderr += chunk), change()))
  child.on("close", (code) => ((ended = { code, stdout, stderr }), change()))
  const until = <A>(find: () => A | undefined): Effect.Effect<A> =>
    Effect.callback<A>((resume) => {
      const look = () => {
        const found = find()
        if (found !== undefined) resume(Effect.succeed(found))
      }
      waiting.add(look)
      look()
      return Effect.sync(() => waiting.delete(look))
    })
  return {
    firstLine: until(() => (stdout.includes("\n") ? stdout.slice(0, stdout.indexOf("\n")) : ended?.stderr)),
    kill: (signal) => Effect.sync(() => void child.kill(signal)),
    ended: until(() => ended)
  }
}

/** The command as a process of its own, killed with the scope. */
export const start = (...args: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, ["--conditions=source", bin, ...args], { stdio: "pipe" })),
      (child) => Effect.sync(() => void child.kill("SIGKILL"))
    ),
    listen
  )

/** The command until it ends by itself. */
export const runToEnd = (...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.flatMap(start(...args), ({ ended }) => ended))
