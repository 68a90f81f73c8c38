import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { signal } from "./signals.ts"
import { until } from "./webhooks.ts"

const script = fileURLToPath(new URL("../fixtures/bot.ts", import.meta.url))

/** Starts the program in a child process, with a limit of open files if it is given, and with further variables. */
export const start = (program: string, maxFiles?: number, env: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(
        "sh",
        [
          "-c",
          `${maxFiles === undefined ? "" : `ulimit -n ${maxFiles}; `}exec "$@"`,
          "sh",
          process.execPath,
          ...(process.versions["deno"] === undefined ? [] : ["run", "--allow-all"]),
          "--conditions=source",
          script,
          program
        ],
        { env: { ...process.env, ...env } }
      )
      let output = ""
      const onData = (chunk: Buffer) => {
        output += chunk.toString()
      }
      child.stdout.on("data", onData)
      child.stderr.on("data", onData)
      const ended = once(child, "close") as Promise<[code: number | null]>
      const prints = (text: string | RegExp) =>
        until(
          Effect.sync(() => output),
          (output) => output.search(text) >= 0
        )
      return {
        prints,
        writeLine: Effect.sync(() => child.stdin.write("go\n")),
        signal: (name: NodeJS.Signals) => Effect.sync(() => signal(child, name)),
        code: Effect.map(
          Effect.promise(() => ended),
          ([code]) => code
        ),
        address: Effect.map(
          prints(/port \d+\n/),
          (output) => `http://127.0.0.1:${/port (\d+)/.exec(output)?.[1]}/updates`
        ),
        child
      }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )
