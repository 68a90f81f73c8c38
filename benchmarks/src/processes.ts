import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import type { Server } from "node:net"
import { fileURLToPath } from "node:url"

/** A program that runs in a process of its own and exchanges messages with its parent. */
export interface Program<In, Out> {
  readonly child: ChildProcess
  readonly send: (message: In) => void
  /** Calls a listener for each message that arrives from now on. */
  readonly listen: (listener: (message: Out) => void) => void
  /** Returns the next message, or the next one that satisfies a predicate. Rejects if the process ends first. */
  readonly next: <A extends Out = Out>(is?: (message: Out) => boolean) => Promise<A>
  /** Sends a message, and returns the next one that arrives. */
  readonly ask: <A extends Out = Out>(message: In) => Promise<A>
  readonly exited: Promise<number | NodeJS.Signals>
  readonly hasEnded: () => boolean
  readonly kill: () => Promise<void>
}

/** Starts a program of this directory. */
export const start = <In extends object, Out>(
  file: string,
  args: ReadonlyArray<string> = [],
  options: { readonly errors?: "inherit" | "ignore"; readonly flags?: ReadonlyArray<string> } = {}
): Program<In, Out> => {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ["--conditions=source", "--no-warnings", ...(options.flags ?? [])],
    stdio: ["ignore", "ignore", options.errors ?? "inherit", "ipc"]
  })
  const listeners = new Set<(message: Out) => void>()
  child.on("message", (message) => {
    for (const listener of listeners) listener(message as Out)
  })
  const exited = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal!))
  )
  const next = <A extends Out>(is: (message: Out) => boolean = () => true) =>
    new Promise<A>((resolve, reject) => {
      const listener = (message: Out) => {
        if (!is(message)) return
        listeners.delete(listener)
        resolve(message as A)
      }
      listeners.add(listener)
      void exited.then((how) => reject(new Error(`${file} ${args.join(" ")} ended with ${how}`)))
    })
  return {
    child,
    exited,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    send: (message) => void child.send(message),
    listen: (listener) => void listeners.add(listener),
    next,
    ask: (message) => {
      const answer = next<never>()
      child.send(message)
      return answer
    },
    kill: async () => {
      child.kill("SIGKILL")
      await exited
    }
  }
}

/** A server in a process of its own, when it listens. */
export const startServer = async <In extends object, Out>(file: string, args: ReadonlyArray<string> = []) => {
  const program = start<In, Out | { readonly url: string }>(file, args)
  const { url } = await program.next<{ readonly url: string }>()
  return { ...(program as Program<In, Out>), url }
}

/** The time in milliseconds of a clock that all processes of this machine share. */
export const sharedTime = (): number => Number(process.hrtime.bigint()) / 1e6

/** A message from the parent of this program. */
export const onParentMessage = <A>(listener: (message: A) => void): void =>
  void process.on("message", (message) => listener(message as A))

export const tellParent = (message: object): void => void process.send?.(message)

/** Ends this program when its parent has ended. */
export const endWithParent = (): void => void process.on("disconnect", () => process.exit())

/** Lets a server listen on a free port of this machine. Returns its URL. */
export const listen = async (server: Server): Promise<string> => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
}
