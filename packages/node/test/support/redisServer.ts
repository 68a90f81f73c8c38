import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { temporaryFolder } from "./databases.ts"
import { closedPort } from "./servers.ts"
import { signal } from "./signals.ts"

/** Whether a test can start servers of its own. In CI it always can. */
export const isInstalled = process.env["CI"] === "true" || spawnSync("redis-server", ["--version"]).status === 0

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("data", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
    socket.write("PING\r\n")
  })

/** Sends a command to a server, and returns the reply. */
export const command = (url: string, ...args: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.sync(() => {
    const options = { encoding: "utf8", stdio: "pipe" } as const
    return execFileSync("redis-cli", ["-u", url, ...args], options)
  })

/** Repeats a command until the reply contains a text. */
export const until = (url: string, args: ReadonlyArray<string>, text: string): Effect.Effect<string> =>
  Effect.repeat(command(url, ...args), {
    until: (reply) => reply.includes(text),
    schedule: Schedule.spaced("5 millis")
  })

/** A server without data, which can be killed and started again on the same port. It is killed when the scope ends. */
export const makeWith = Effect.fnUntraced(function* (options: ReadonlyArray<string>) {
  const port = yield* closedPort
  // A replica stores what it received from its primary in the folder, and a server reads it when it starts.
  const folder = yield* temporaryFolder
  let child: ChildProcess | undefined
  const kill = Effect.promise(async () => {
    const running = child
    child = undefined
    if (running === undefined) return
    const closed = once(running, "close")
    running.kill("SIGKILL")
    await closed
  })
  const start = Effect.promise(async () => {
    const args = ["--port", String(port), "--save", "", "--appendonly", "no", "--dir", folder, ...options]
    const started = spawn("redis-server", args, { stdio: "ignore" })
    child = started
    while (!(await answers(port))) {
      if (started.exitCode !== null) throw new Error(`redis-server has ended with the options ${args.join(" ")}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
  const send = (name: "SIGSTOP" | "SIGCONT") => Effect.sync(() => child && signal(child, name))
  yield* Effect.acquireRelease(start, () => kill)
  return { url: `redis://127.0.0.1:${port}`, start, kill, signal: send }
})

/** The same, with the default settings. */
export const make = makeWith([])
