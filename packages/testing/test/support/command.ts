import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { call, type Json } from "./control.ts"

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

const startWith = (command: string, args: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => spawn(command, args, { stdio: "pipe" })),
      (child) => Effect.sync(() => void child.kill("SIGKILL"))
    ),
    listen
  )

const nodeArgs = ["--conditions=source", bin]

/** The command as a process of its own, killed with the scope. */
export const start = (...args: ReadonlyArray<string>) => startWith(process.execPath, [...nodeArgs, ...args])

/** The command as a process that may have only so many files open. */
const startLimited = (maxFiles: number, args: ReadonlyArray<string>) =>
  startWith("sh", ["-c", `ulimit -n ${maxFiles}; exec "$@"`, "sh", process.execPath, ...nodeArgs, ...args])

/** The command until it ends by itself. */
export const runToEnd = (...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.flatMap(start(...args), ({ ended }) => ended))

/** A folder that is gone after the test. */
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-command-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The command with --json: what it says in its first line, and calls to it. */
export const open = (...args: ReadonlyArray<string>) => talkingTo(start("--json", ...args))

/** As `open`, in a process that may have only so many files open. */
export const openLimited = (maxFiles: number) => talkingTo(startLimited(maxFiles, ["--json"]))

const talkingTo = (started: Effect.Effect<Running, never, Scope.Scope>) =>
  Effect.gen(function* () {
    const process = yield* started
    const line = yield* process.firstLine
    const { token, uploads, url } = JSON.parse(line) as {
      readonly url: string
      readonly uploads: Readonly<Record<string, string>>
      readonly token: string
    }
    const made = (path: string, body: unknown = {}) =>
      Effect.map(call("POST", `/_emulator${path}`, body, { baseUrl: url }), ({ body }): Json => body)
    const put = (path: string, body: unknown) => call("PUT", `/_emulator${path}`, body, { baseUrl: url })
    const seen = (path: string) =>
      Effect.map(call("GET", `/_emulator${path}`, undefined, { baseUrl: url }), ({ body }): Json => body)
    const asBot = (method: Parameters<typeof call>[0], path: string, body?: unknown, as = token) =>
      call(method, path, body, { baseUrl: url, token: as })
    return { ...process, line, url, uploads, token, made, put, seen, asBot }
  })

/** A test of the command as a process. */
export const live = (
  name: string,
  test: Effect.Effect<void, unknown, HttpClient.HttpClient | Scope.Scope>,
  timeout = 30_000
) => it.live(name, () => Effect.scoped(Effect.provide(test, NodeHttpClient.layerUndici)), timeout)
