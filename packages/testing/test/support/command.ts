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
import { httpClient } from "./httpClient.ts"

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))

export interface Exited {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly firstLine: Effect.Effect<string>
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  readonly endInput: (text: string) => Effect.Effect<void>
  readonly exited: Effect.Effect<Exited>
}

const observe = (child: ChildProcess): Running => {
  let stdout = ""
  let stderr = ""
  let exited: Exited | undefined
  const waiting = new Set<() => void>()
  const notify = () => waiting.forEach((wake) => wake())
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => ((stdout += chunk), notify()))
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => ((stderr += chunk), notify()))
  child.on("close", (code) => ((exited = { code, stdout, stderr }), notify()))
  const waitFor = <A>(find: () => A | undefined): Effect.Effect<A> =>
    Effect.callback<A>((resume) => {
      const check = () => {
        const found = find()
        if (found !== undefined) resume(Effect.succeed(found))
      }
      waiting.add(check)
      check()
      return Effect.sync(() => waiting.delete(check))
    })
  return {
    firstLine: waitFor(() => (stdout.includes("\n") ? stdout.slice(0, stdout.indexOf("\n")) : exited?.stderr)),
    // A process that has already exited does not read its input.
    endInput: (text) => Effect.sync(() => void child.stdin!.on("error", () => {}).end(text)),
    // `ChildProcess.kill` of Deno also takes the process for ended, and reports no exit code.
    kill: (signal) => Effect.sync(() => void (exited === undefined && process.kill(child.pid!, signal))),
    exited: waitFor(() => exited)
  }
}

const startWith = (command: string, args: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => spawn(command, args, { stdio: "pipe" })),
      (child) => Effect.sync(() => void child.kill("SIGKILL"))
    ),
    observe
  )

const nodeArgs = ["--conditions=source", bin]

/** Starts the command in a child process, which is killed when the scope closes. */
export const start = (...args: ReadonlyArray<string>) => startWith(process.execPath, [...nodeArgs, ...args])

const starter = `
  const { spawn } = process.getBuiltinModule("node:child_process")
  const { once } = process.getBuiltinModule("node:events")
  const [environments, args] = JSON.parse(process.argv.at(-1))
  const children = environments.map((env) => {
    const options = { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "ignore"], detached: true }
    return spawn(process.execPath, args, options)
  })
  Promise.all(children.map(({ stdout }) => once(stdout, "data"))).then(() => {
    console.log(JSON.stringify(children.map(({ pid }) => pid)))
  })`

/** Starts a process that starts the command in each environment, and then prints the pids in one line. */
export const startStarter = (environments: ReadonlyArray<Readonly<Record<string, string>>>) =>
  startWith(process.execPath, ["-e", starter, JSON.stringify([environments, nodeArgs])])

/** Starts the command in a child process with a limit of open files. */
const startLimited = (maxFiles: number, args: ReadonlyArray<string>) =>
  startWith("sh", ["-c", `ulimit -n ${maxFiles}; exec "$@"`, "sh", process.execPath, ...nodeArgs, ...args])

/** Starts the command and waits until its process exits. */
export const run = (...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.flatMap(start(...args), ({ exited }) => exited))

/** Starts the command with lines of JSON on standard input, which ends after them, and waits until its process exits. */
export const runWithInput = (args: ReadonlyArray<string>, ...lines: ReadonlyArray<unknown>) =>
  Effect.scoped(
    Effect.flatMap(start(...args), ({ endInput, exited }) =>
      Effect.andThen(endInput(lines.map((line) => `${JSON.stringify(line)}\n`).join("")), exited)
    )
  )

/** Creates a folder that is removed when the scope closes. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-command-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Starts the command with `--json`, and returns the fields of its first line and functions that send requests to it. */
export const startJson = (...args: ReadonlyArray<string>) => withRequests(start("--json", ...args))

/** Same as `startJson`, with a limit of open files. */
export const startJsonLimited = (maxFiles: number) => withRequests(startLimited(maxFiles, ["--json"]))

const withRequests = (started: Effect.Effect<Running, never, Scope.Scope>) =>
  Effect.gen(function* () {
    const process = yield* started
    const firstLine = yield* process.firstLine
    const { token, uploads, url } = JSON.parse(firstLine) as {
      readonly url: string
      readonly uploads: Readonly<Record<string, string>>
      readonly token: string
    }
    const postOk = (path: string, body: unknown = {}) =>
      Effect.map(call("POST", `/_emulator${path}`, body, { baseUrl: url }), ({ body }): Json => body)
    const put = (path: string, body: unknown) => call("PUT", `/_emulator${path}`, body, { baseUrl: url })
    const getOk = (path: string) =>
      Effect.map(call("GET", `/_emulator${path}`, undefined, { baseUrl: url }), ({ body }): Json => body)
    const asBot = (method: Parameters<typeof call>[0], path: string, body?: unknown, as = token) =>
      call(method, path, body, { baseUrl: url, token: as })
    return { ...process, line: firstLine, url, uploads, token, postOk, put, getOk, asBot }
  })

/** Defines a test of the command in a child process, in real time. */
export const liveTest = (name: string, test: Effect.Effect<void, unknown, HttpClient.HttpClient | Scope.Scope>) =>
  it.live(name, () => Effect.scoped(Effect.provide(test, httpClient)))
