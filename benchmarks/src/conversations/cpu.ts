/**
 * Prints the CPU time in microseconds of an answer after which 20 answers are stored in SQLite: of a conversation, of the same
 * with requests to a server in another process, and of a workflow of `effect/workflow` that asks and stores the same. Requires
 * `--expose-gc`.
 */
import { type BotApi, Inbox, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { printCosts } from "../child.ts"
import { median } from "../figure.ts"
import * as places from "../inbox/places.ts"
import { layerSource } from "../inbox/traffic.ts"
import * as client from "../once/client.ts"
import { answerOf, botOf, makeForm, writeAll } from "./form.ts"
import * as platform from "./platform.ts"
import * as workflow from "./workflow.ts"

const questions = 20

const rounds = 3

/** How often a round measures conversations. The answers take 0.2 seconds of CPU time, which differ by a third. */
const repetitions = 5

const cpuOf = async (effect: () => Promise<unknown>, count: number): Promise<number> => {
  gc!()
  const before = process.cpuUsage()
  await effect()
  const { system, user } = process.cpuUsage(before)
  return (user + system) / count
}

const ofConversation = (chats: number, api: Layer.Layer<BotApi.BotApi, unknown>): Promise<number> =>
  places.withPlace("sqlite", async (place) => {
    const runtime = ManagedRuntime.make(
      layerSource(() => Effect.never).pipe(
        Layer.provideMerge(Inbox.layer({ capacity: 1_000_000 })),
        Layer.provide(places.layer(place)),
        Layer.provideMerge(api),
        Layer.provideMerge(Logger.layer([]))
      )
    )
    const write = (at: number, text: string) => runtime.runPromise(writeAll(chats, at, text))
    runtime.runFork(Updates.run(botOf(makeForm(questions + 1))))
    try {
      await write(1, "/begin")
      for (let index = 1; index < questions; index++) await write(1 + index, answerOf(index))
      return await cpuOf(() => write(1 + questions, answerOf(questions)), chats)
    } finally {
      await runtime.dispose()
    }
  })

const ofWorkflow = async (chats: number): Promise<number> => {
  const directory = mkdtempSync(join(tmpdir(), "colloquy_bench_"))
  let sent = 0
  const runtime = ManagedRuntime.make(
    workflow
      .layer(
        join(directory, "workflow.sqlite"),
        platform.layer(() => void sent++)
      )
      .pipe(Layer.provideMerge(Logger.layer([])))
  )
  const all = async (
    of: (chat: number) => ReturnType<typeof workflow.begin> | ReturnType<typeof workflow.answer>,
    goal: number
  ) => {
    await runtime.runPromise(
      Effect.forEach(
        Array.from({ length: chats }, (_, chat) => chat + 1),
        of,
        { concurrency: 16, discard: true }
      )
    )
    while (sent < goal) await sleep(10)
  }
  const answer = (index: number) => all((chat) => workflow.answer(chat, questions + 1, index), (index + 1) * chats)
  try {
    await all((chat) => workflow.begin(chat, questions + 1), chats)
    for (let index = 1; index < questions; index++) await answer(index)
    // What the last answer leaves to do belongs to it.
    await sleep(1000)
    return await cpuOf(() => answer(questions), chats)
  } finally {
    await runtime.dispose()
    rmSync(directory, { recursive: true })
  }
}

const server = fork(fileURLToPath(new URL("../server.ts", import.meta.url)))
const [port] = (await once(server, "message")) as [number]

const conversation = async (): Promise<number> => {
  const costs = new Array<number>()
  for (let repetition = 0; repetition < repetitions; repetition++) {
    costs.push(await ofConversation(400, platform.layer()))
  }
  return median(costs)
}

const contenders = {
  conversation,
  sockets: () => ofConversation(400, client.layer(`http://127.0.0.1:${port}`)),
  workflow: () => ofWorkflow(25)
}

const costs = { conversation: new Array<number>(), sockets: new Array<number>(), workflow: new Array<number>() }
for (let round = -1; round < rounds; round++) {
  for (const [name, measure] of Object.entries(contenders)) {
    const cost = await measure()
    if (round >= 0) costs[name as keyof typeof costs].push(cost)
  }
}
printCosts(costs)
server.kill()
process.exit()
