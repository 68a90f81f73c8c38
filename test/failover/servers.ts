/** What the engines have in common: processes that are killed with all their children, and addresses that move. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** PostgreSQL refuses to run as root. */
export const account = process.getuid?.() === 0 ? numericIds("postgres") : {}

function numericIds(user: string): { readonly uid?: number; readonly gid?: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, user], { encoding: "utf8" }))
  try {
    return { uid: id("-u"), gid: id("-g") }
  } catch {
    return {}
  }
}

export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "failover-"))
    chmodSync(folder, 0o777)
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
)

/** A free port. */
export const freePort: Effect.Effect<number> = Effect.callback((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** A server has not reached a state that the program waits for. */
export class NotYet extends Data.TaggedError("NotYet")<{ readonly message: string }> {}

/** Repeats an effect until the effect succeeds, for at most 30 seconds. */
export const untilItWorks = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const attempt = (left: number): Effect.Effect<A, E> =>
    Effect.catch(effect, (error) =>
      left === 0 ? Effect.fail(error) : Effect.andThen(Effect.sleep("100 millis"), attempt(left - 1))
    )
  return attempt(300)
}

/** Runs a command, and fails with what the command has printed. */
export const run = (command: string, args: ReadonlyArray<string>, options: object = {}): Effect.Effect<string, Error> =>
  Effect.callback((resume) => {
    const child = execFile(command, args, { encoding: "utf8", ...options }, (error, output) =>
      resume(error === null ? Effect.succeed(output) : Effect.fail(error))
    )
    child.stdin?.end()
  })

export interface Server {
  readonly port: number
  /** Kills the server with all its processes, and without a chance to finish anything. */
  readonly kill: Effect.Effect<void>
}

/** Starts a server, which is killed when the scope closes. */
export const startServer = (
  command: string,
  args: ReadonlyArray<string>,
  port: number,
  options: object = {}
): Effect.Effect<Server, never, Scope.Scope> => {
  const kill = (child: ChildProcess) =>
    Effect.callback<void>((resume) => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return resume(Effect.void)
      child.once("exit", () => resume(Effect.void))
      process.kill(-child.pid, "SIGKILL")
    })
  return Effect.acquireRelease(
    Effect.sync(() => spawn(command, args, { stdio: "ignore", detached: true, ...options })),
    kill
  ).pipe(Effect.map((child) => ({ port, kill: kill(child) })))
}

export interface Address {
  readonly port: number
  /** New connections lead to this port. */
  readonly moveTo: (port: number) => void
  /** Nothing is passed on any more, in one direction: from the server. */
  readonly hold: () => void
  /** Ends all connections. */
  readonly cut: () => void
}

/** A TCP proxy: the address of a primary that a load balancer, a virtual IP or a DNS name moves, or the way to a replica. */
export const makeAddress = (target: number): Effect.Effect<Address, never, Scope.Scope> => {
  const sockets = new Set<Socket>()
  const servers = new Set<Socket>()
  let port = target
  let isHeld = false
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1")
    servers.add(upstream)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.on("data", (chunk) => to.write(chunk))
      from.on("error", () => to.destroy())
      from.on("close", () => {
        sockets.delete(from)
        servers.delete(from)
        to.destroy()
      })
    }
    if (isHeld) upstream.pause()
  })
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return Effect.acquireRelease(
    Effect.callback<Address>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const hold = () => {
          isHeld = true
          servers.forEach((socket) => socket.pause())
        }
        const own = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ port: own, moveTo: (to) => void (port = to), hold, cut }))
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
        cut()
      })
  )
}
