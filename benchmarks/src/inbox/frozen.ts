import { Inbox } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text as bodyOf } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { sent as sentMessage } from "../sample.ts"
import type { Measured } from "../figure.ts"
import { listen, sharedTime, start } from "../processes.ts"
import * as places from "./places.ts"
import { pageOf } from "./traffic.ts"

const freezes = 10

const bots = 3

const chats = 40

export const lease = "2 seconds"

/** Longer than the lease, in milliseconds. */
const frozenFor = 3500

const runsFor = 1500

/** Each chat gets this many updates at once, so that a process holds more of them than it handles. */
const burst = 5

const betweenBursts = 500

/** Without progress for this long, in milliseconds, the run has ended. */
const maxIdle = 20_000

export const chatOf = (index: number): ChatId => ChatId.make(1 + (index % chats))

/** What a handler of a bot did, and when by the clock that all processes share. */
export interface Line {
  readonly bot: number
  readonly what: "begin" | "end"
  readonly index: number
  readonly at: number
}

interface Sent {
  readonly bot: number
  readonly index: number
  readonly at: number
}

interface Freeze {
  readonly bot: number
  readonly from: number
}

export interface Faults {
  readonly lost: number
  readonly outOfOrder: number
  readonly atTheSameTime: number
  readonly sentByLoser: number
}

interface Run {
  readonly bot: number
  readonly index: number
  readonly from: number
  until: number
}

/** The handler runs in the order in which they began. The lines are ordered by time, because a pipe would not be. */
const runsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  const open = new Map<string, Run>()
  for (const { at, bot, index, what } of lines) {
    const key = `${bot} ${index}`
    if (what === "begin") {
      const run = { bot, index, from: at, until: Infinity }
      open.set(key, run)
      runs.push(run)
    } else {
      const run = open.get(key)
      if (run !== undefined) run.until = at
    }
  }
  return runs
}

/** Counts what must not happen. */
export const judge = (
  lines: ReadonlyArray<Line>,
  sent: ReadonlyArray<Sent>,
  frozen: ReadonlyArray<Freeze>,
  total: number
): Faults => {
  const runs = runsOf(lines.toSorted((a, b) => a.at - b.at))
  const byChat = Map.groupBy(runs, ({ index }) => index % chats)
  const ranAtFreeze = (run: Run) =>
    frozen.some(({ bot, from }) => bot === run.bot && run.from <= from && from <= run.until)
  let outOfOrder = 0
  let atTheSameTime = 0
  for (const ofChat of byChat.values()) {
    for (const [at, run] of ofChat.entries()) {
      const before = ofChat.slice(0, at)
      // An update may be handled again, but not after a later update of its chat has been handled.
      if (before.some((other) => other.index > run.index && other.until <= run.from)) outOfOrder++
      if (before.some((other) => other.bot !== run.bot && other.until > run.from && !ranAtFreeze(other)))
        atTheSameTime++
    }
  }
  const sentByLoser = sent.filter((call) => {
    const ofChat = byChat.get(call.index % chats) ?? []
    const run = ofChat.findLast(({ bot, from, index }) => bot === call.bot && index === call.index && from <= call.at)
    return run !== undefined && ofChat.some(({ bot, from }) => bot !== call.bot && from > run.from && from < call.at)
  }).length
  const handled = new Set(runs.flatMap(({ index, until }) => (until === Infinity ? [] : [index])))
  return { lost: total - handled.size, outOfOrder, atTheSameTime, sentByLoser }
}

const readLines = (file: string): ReadonlyArray<Line> =>
  readFileSync(file, "latin1")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]))

const faultsOf = (store: places.Store): Promise<Faults> =>
  places.withPlace(store, async (place) => {
    const file = join(tmpdir(), `${place.name}.log`)
    writeFileSync(file, "")
    const sent: Array<Sent> = []
    const server = createServer(async (request, response) => {
      const at = sharedTime()
      response.setHeader("content-type", "application/json")
      // The next attempt of an update looks for its message in the chat. It finds none, so that it sends another one.
      if (request.method !== "POST") return response.end(JSON.stringify({ messages: [] }))
      const { text } = JSON.parse(await bodyOf(request)) as { readonly text: string }
      const [bot, index] = text.split(" ").map(Number)
      sent.push({ bot: bot!, index: index!, at })
      return response.end(sentMessage)
    })
    const url = await listen(server)
    const inbox = ManagedRuntime.make(places.layerInbox(place, { capacity: 1_000_000 }))
    await inbox.context()
    const programs = Array.from({ length: bots }, (_, id) =>
      start<never, { readonly isReady: true }>("inbox/frozenBot.ts", [
        ...places.toArguments(place),
        file,
        String(id),
        url
      ])
    )
    let total = 0
    let isFeeding = true
    const feed = async () => {
      while (isFeeding) {
        const first = total
        total += chats * burst
        await inbox.runPromise(Inbox.Inbox.use((inbox) => inbox.receive(pageOf(first, chats * burst, chats))))
        await sleep(betweenBursts)
      }
    }
    try {
      await Promise.all(programs.map(({ next }) => next()))
      const feeding = feed()
      const frozen: Array<Freeze> = []
      for (let index = 0; index < freezes; index++) {
        await sleep(runsFor + Math.random() * 300)
        const bot = index % bots
        programs[bot]!.child.kill("SIGSTOP")
        frozen.push({ bot, from: sharedTime() })
        await sleep(frozenFor)
        programs[bot]!.child.kill("SIGCONT")
      }
      isFeeding = false
      await feeding
      let size = -1
      for (let since = performance.now(); performance.now() - since < maxIdle;) {
        await sleep(200)
        const { queued } = await inbox.runPromise(Inbox.Inbox.use(({ stats }) => stats))
        if (queued === 0) break
        const now = sent.length
        if (now > size) since = performance.now()
        size = now
      }
      await sleep(200)
      return judge(readLines(file), sent, frozen, total)
    } finally {
      isFeeding = false
      await Promise.all(programs.map(({ kill }) => kill()))
      await inbox.dispose()
      server.closeAllConnections()
      server.close()
      rmSync(file)
    }
  })

/** What ten freezes of one of three processes cause: the sum of all faults. */
export const outOfOrder = async (): Promise<Measured> => {
  const stores = ["postgres", "redis"] as const
  const measured: Array<readonly [store: string, faults: Faults]> = []
  for (const store of stores) measured.push([store, await faultsOf(store)])
  return {
    value: measured.reduce(
      (sum, [, faults]) => sum + Object.values<number>({ ...faults }).reduce((a, b) => a + b, 0),
      0
    ),
    detail: measured
      .map(
        ([store, { atTheSameTime, lost, outOfOrder, sentByLoser }]) =>
          `${store}: ${outOfOrder} out of order, ${atTheSameTime} at the same time, ${sentByLoser} sent by a loser, ${lost} lost`
      )
      .join("; ")
  }
}
