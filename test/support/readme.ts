import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { assert } from "vitest"
import { programs, root } from "../../scripts/internal/workspace.ts"

/** The fences of a section of a page, in their order. */
export const fencesOf = (
  heading: string,
  page = "README.md"
): ReadonlyArray<{ readonly language: string; readonly text: string }> => {
  const section = readFileSync(join(root, page), "utf8")
    .split(/^## /m)
    .find((each) => each.startsWith(`${heading}\n`))
  assert.isDefined(section, `${page} has no section ${heading}`)
  return [...section!.matchAll(/^```(\w+)[^\n]*\n([^]*?)^```$/gm)].map(([, language, text]) => ({ language, text }))
}

/** Starts a program, and ends it with the test. */
export const start = (
  program: string,
  args: ReadonlyArray<string>,
  cwd: string,
  onTestFinished: (end: () => void) => void
): { readonly output: () => string; readonly child: ChildProcess } => {
  let output = ""
  const PATH = [dirname(process.execPath), ...programs, process.env["PATH"]].join(delimiter)
  const env = { ...process.env, PATH }
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
  }
  onTestFinished(() => {
    // The shell and its child processes are one process group.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
  })
  return { output: () => output, child }
}

/** Waits for the first line that a program writes to standard output. */
export const firstLine = ({ child, output }: ReturnType<typeof start>): Promise<string> =>
  new Promise((resolve, reject) => {
    let written = ""
    child.stdout!.on("data", (text: string) => {
      written += text
      if (written.includes("\n")) resolve(written.slice(0, written.indexOf("\n")))
    })
    child.once("exit", () => reject(new Error(output())))
  })

type Seen = { readonly seen: ReadonlyArray<{ readonly message?: { readonly body?: { readonly text?: string } } }> }

/** Sends a message to the bot as a person of an emulator, and returns the reply of the bot. */
export const replyOn = async (url: string, text: string): Promise<string | undefined> => {
  const call = async <A>(path: string, body?: object): Promise<A> => {
    const method = body === undefined ? "GET" : "POST"
    const response = await fetch(`${url}/_emulator${path}`, { method, ...(body && { body: JSON.stringify(body) }) })
    assert.strictEqual(response.status, 200, path)
    return (await response.json()) as A
  }
  const { user_id } = await call<{ readonly user_id: number }>("/users", { first_name: "Ann" })
  await call("/messages", { user_id, text })
  const { seen } = await call<Seen>("/seen?wait_ms=30000")
  return seen[0]?.message?.body?.text
}
