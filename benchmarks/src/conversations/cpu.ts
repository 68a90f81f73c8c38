/**
 * Prints the CPU time in microseconds of an answer after which 20 answers are stored in SQLite: of a conversation, of the same
 * with requests to a server in another process, and of a workflow of `effect/workflow` that asks and stores the same. Requires
 * `--expose-gc`.
 */
import type { BotApi } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { setTimeout as sleep } from "node:timers/promises"
import { printCosts } from "../child.ts"
import { median } from "../figure.ts"
import * as places from "../inbox/places.ts"
import * as client from "../once/client.ts"
import { startServer } from "../processes.ts"
import { cpuOf, takeTurns } from "../rounds.ts"
import { answerOf, makeForm, runForm } from "./form.ts"
import * as platform from "./platform.ts"
import * as workflow from "./workflow.ts"

const questions = 20

/** How often a round measures conversations. The answers take 0.2 seconds of CPU time, which differ by a third. */
const repetitions = 5

const costOf = async (answer: () => Promise<unknown>, count: number): Promise<number> => {
  gc!()
  return (await cpuOf(answer)) / count
}

const ofConversation = (chats: number, api: Layer.Layer<BotApi.BotApi, unknown>): Promise<number> =>
  places.withPlace("sqlite", async (place) => {
    const { runtime, write } = runForm(place, makeForm(questions + 1), api)
    try {
      await write(chats, 1, "/begin")
      for (let index = 1; index < questions; index++) await write(chats, 1 + index, answerOf(index))
      return await costOf(() => write(chats, 1 + questions, answerOf(questions)), chats)
    } finally {
      await runtime.dispose()
    }
  })

const ofWorkflow = (chats: number): Promise<number> =>
  places.withPlace("sqlite", async (place) => {
    let sent = 0
    const api = platform.layer(() => void sent++)
    const runtime = ManagedRuntime.make(
      Layer.provideMerge(workflow.layer(places.fileOf(place, "workflow.sqlite"), api), Logger.layer([]))
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
      return await costOf(() => answer(questions), chats)
    } finally {
      await runtime.dispose()
    }
  })

const conversation = async (): Promise<number> => {
  const costs = new Array<number>()
  for (let repetition = 0; repetition < repetitions; repetition++) {
    costs.push(await ofConversation(400, platform.layer()))
  }
  return median(costs)
}

const server = await startServer("server.ts")

const contenders = {
  conversation,
  sockets: () => ofConversation(400, client.layer(server.url)),
  workflow: () => ofWorkflow(25)
}

printCosts(await takeTurns(contenders, { rounds: 3 }))
await server.kill()
process.exit()
