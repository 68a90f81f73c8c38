import { Emulator, EmulatorServer } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import * as telegram from "./telegram.ts"

const workspace = fileURLToPath(new URL("../..", import.meta.url))

export interface Said {
  readonly text: string
  readonly buttons: ReadonlyArray<string>
}

/** A bot in a process of its own, its platform, and a person who talks to it. */
export interface Scene {
  /** What the bot has said. */
  readonly said: () => Promise<ReadonlyArray<Said>>
  readonly write: (text: string) => Promise<unknown>
  /** Presses a button of the last message. */
  readonly press: (label: string) => Promise<unknown>
  /** Kills the process when the platform has accepted a message, before the response. */
  readonly killAfter: (text: string) => Promise<void>
  readonly kill: () => Promise<void>
  /** Starts the process again, with changes of its source code. */
  readonly restart: (edits?: Edits) => void
  readonly close: () => Promise<void>
}

/** Changes of source code: what is replaced, and by what. */
export type Edits = ReadonlyArray<readonly [from: string, to: string]>

const copies = join(workspace, "dist", `scenes-${process.pid}`)

/** Writes a copy of a program, in this workspace, so that its imports are found. */
const edit = (source: string, edits: Edits): string => {
  mkdirSync(copies, { recursive: true })
  let text = readFileSync(source, "utf8")
  for (const [from, to] of edits) {
    if (!text.includes(from)) throw new Error(`${source} does not contain ${from}`)
    text = text.replaceAll(from, to)
  }
  const copy = join(copies, `${Math.random().toString(36).slice(2)}.ts`)
  writeFileSync(copy, text)
  return copy
}

/** A process that can be killed and started again. */
const processOf = (source: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  let child: ChildProcess | undefined
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGKILL")
    await once(child, "exit")
  }
  return {
    kill,
    start: (edits: Edits) => {
      child = spawn(process.execPath, ["--conditions=source", "--no-warnings", edit(source, edits), ...args], {
        cwd: workspace,
        env: { ...process.env, ...env },
        stdio: process.env["BENCH_VERBOSE"] === undefined ? "ignore" : "inherit"
      })
    }
  }
}

const makeDirectory = () => mkdtempSync(join(tmpdir(), "colloquy_bench_"))

const removeFiles = (directory: string) => {
  for (const path of [directory, copies]) rmSync(path, { recursive: true, force: true })
}

/** examples/src/pizza.ts on the emulator, with its inbox in SQLite. */
export const ours = async (edits: Edits): Promise<Scene> => {
  const directory = makeDirectory()
  const runtime = ManagedRuntime.make(
    EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token: "token" })))
  )
  const { url } = await runtime.runPromise(EmulatorServer.EmulatorServer)
  const person = await runtime.runPromise(Emulator.user("Ann"))
  const chat = await runtime.runPromise(person.start())
  const program = processOf(join(workspace, "../examples/src/pizza.ts"), [], {
    BOT_TOKEN: "token",
    BOT_BASE_URL: url,
    BOT_INBOX: join(directory, "inbox.sqlite")
  })
  const messages = Effect.map(Emulator.messages(chat), (all) => all.filter(({ sender }) => sender?.is_bot === true))
  program.start(edits)
  return {
    said: async () =>
      (await runtime.runPromise(messages)).map(({ body }) => ({
        text: body?.text ?? "",
        buttons: (body?.attachments ?? []).flatMap((attachment) =>
          attachment.type === "inline_keyboard"
            ? attachment.payload.buttons.flat().flatMap((button) => (button.type === "callback" ? button.text : []))
            : []
        )
      })),
    write: (text) => runtime.runPromise(person.send(text)),
    press: (label) => runtime.runPromise(Effect.flatMap(messages, (all) => person.press(all.at(-1)!, label))),
    killAfter: (text) => {
      const killed = Promise.withResolvers<void>()
      let isKilled = false
      const intercept = Emulator.intercept((_, response) =>
        Effect.tap(response, ({ body }) =>
          Effect.promise(async () => {
            if (isKilled || !body.includes(text)) return
            isKilled = true
            await program.kill()
            killed.resolve()
          })
        )
      )
      runtime.runFork(Effect.scoped(Effect.andThen(intercept, Effect.never)))
      return killed.promise
    },
    kill: program.kill,
    restart: (edits = []) => program.start(edits),
    close: async () => {
      await program.kill()
      await runtime.dispose()
      removeFiles(directory)
    }
  }
}

/** The same on grammY, with its conversations in files. */
export const grammy = async (edits: Edits): Promise<Scene> => {
  const directory = makeDirectory()
  const api = await telegram.start()
  const source = fileURLToPath(new URL("pizza.ts", import.meta.url))
  const program = processOf(source, [api.apiRoot, directory], {})
  const chat = 42
  program.start(edits)
  return {
    said: async () => api.said.map(({ buttons, text }) => ({ text, buttons: buttons.map(({ text }) => text) })),
    write: async (text) => api.write(chat, text),
    press: async (label) => api.press(api.said.at(-1)!, label),
    killAfter: (text) => {
      const killed = Promise.withResolvers<void>()
      let isKilled = false
      api.intercept(async (said) => {
        if (isKilled || !said.includes(text)) return
        isKilled = true
        await program.kill()
        killed.resolve()
      })
      return killed.promise
    },
    kill: program.kill,
    restart: (edits = []) => program.start(edits),
    close: async () => {
      await program.kill()
      api.close()
      removeFiles(directory)
    }
  }
}

/** Waits for a condition. Returns whether it became true in time. */
export const until = async (isDone: () => Promise<boolean>, seconds = 20): Promise<boolean> => {
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    if (await isDone()) return true
    await sleep(50)
  }
  return false
}
