import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Operation } from "./inboxProcess.ts"
import { signal } from "./signals.ts"

const program = fileURLToPath(new URL("inboxProcess.ts", import.meta.url))

interface Results {
  readonly enqueue: number
  readonly claim: ReadonlyArray<{
    readonly key: string
    readonly updates: ReadonlyArray<{
      readonly id: string
      readonly attempts: number
      readonly crashes: number
    }>
  }>
  readonly commit: ReadonlyArray<InboxStore.CommitResult>
  readonly read: ReadonlyArray<InboxStore.Row | null>
  readonly renew: ReadonlyArray<string>
}

/** A process that executes operations of a store. */
export interface InboxProcess {
  /** Executes an operation. Returns its result. */
  readonly execute: <Name extends Operation["name"]>(
    operation: Extract<Operation, { readonly name: Name }>
  ) => Effect.Effect<Results[Name]>
  /** Sends an operation, and does not wait for its result. */
  readonly send: (operation: Operation) => Effect.Effect<void>
  /** Waits for the next result. */
  readonly result: Effect.Effect<unknown>
  readonly signal: (signal: "SIGSTOP" | "SIGCONT" | "SIGKILL") => Effect.Effect<void>
}

const closed = (child: ChildProcess) =>
  Effect.promise(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const close = once(child, "close")
    child.kill("SIGKILL")
    await close
  })

/** Starts a process that ends with the scope. */
export const startProcess = Effect.fnUntraced(function* (kind: string, place: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, ["--conditions=source", "--no-warnings", program, kind, place], {
        stdio: ["pipe", "pipe", "inherit"]
      })
    ),
    closed
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const result = Effect.promise(async () => {
    const line = await lines.next()
    if (line.done === true) throw new Error("The process has ended.")
    return JSON.parse(line.value) as unknown
  })
  const send = (operation: Operation) => Effect.sync(() => void child.stdin.write(`${JSON.stringify(operation)}\n`))
  yield* result
  const inboxProcess: InboxProcess = {
    send,
    result,
    execute: <Name extends Operation["name"]>(operation: Extract<Operation, { readonly name: Name }>) =>
      Effect.andThen(send(operation), result) as Effect.Effect<Results[Name]>,
    signal: (name) => (name === "SIGKILL" ? closed(child) : Effect.sync(() => signal(child, name)))
  }
  return inboxProcess
})
