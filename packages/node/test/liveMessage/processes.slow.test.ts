import type * as InboxStore from "@colloquy/core/InboxStore"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { serve } from "../support/servers.ts"
import { databases } from "../support/sharedStores.ts"
import { until } from "../support/webhooks.ts"

const program = fileURLToPath(new URL("../support/liveBot.ts", import.meta.url))

const source = Array.from({ length: 12 }, (_, index) => `A **bold word${index}** and \`code${index}\` here. `).join("")

const shown = source.replace(/[*`]/g, "")

/** How many requests of the bot the platform has received. */
interface Counts {
  send: number
  edit: number
  "last edit": number
  me: number
}

/** How many times the model may have said words. It waits for the bot, so there are two edits before the last one. */
const allowed = ({ edit, send }: Counts): number => [send === 0 ? 6 : 18, 30][edit] ?? Infinity

/** A model that says two words every 50 milliseconds. Returns after how many characters it was asked to go on. */
const serveModel = Effect.fnUntraced(function* (maxTimes: () => number, onEnd: () => void) {
  const asked: Array<number> = []
  const url = yield* serve((request, response) => {
    const after = Number(new URL(request.url ?? "", "http://model").searchParams.get("after"))
    asked.push(after)
    const words = source.slice(after).match(/\S+\s*/g) ?? []
    let times = 0
    const timer = setInterval(() => {
      if (times >= maxTimes()) return
      times++
      if (words.length > 0) return void response.write(words.splice(0, 2).join(""))
      clearInterval(timer)
      response.end(onEnd)
    }, 50)
    request.on("close", () => clearInterval(timer))
  })
  return { asked, url }
})

/** A process of the bot that can be killed and started again. It ends with the scope. */
const startBot = (args: ReadonlyArray<string>) => {
  const start = () => fork(program, args, { execArgv: ["--conditions=source", "--no-warnings"] })
  return Effect.acquireRelease(
    Effect.sync(() => {
      let child = start()
      const kill = Effect.promise(async () => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const exit = once(child, "exit")
        child.kill("SIGKILL")
        await exit
      })
      return {
        kill,
        restart: Effect.andThen(
          kill,
          Effect.sync(() => void (child = start()))
        )
      }
    }),
    ({ kill }) => kill
  )
}

/** A request of the bot at which it is killed, before or after the platform has carried it out. */
interface At {
  readonly when: "before" | "after"
  readonly request: "send" | "edit" | "last edit" | "me"
  /** The number of the request, from 1. */
  readonly number?: number
}

const points: ReadonlyArray<readonly [name: string, at: At | undefined]> = [
  ["before the message is sent", { when: "before", request: "send" }],
  ["between the message and its response", { when: "after", request: "send" }],
  ["before an edit", { when: "before", request: "edit", number: 2 }],
  ["between an edit and its response", { when: "after", request: "edit", number: 2 }],
  ["after the last word", undefined],
  ["before the last edit", { when: "before", request: "last edit" }],
  ["between the last edit and its response", { when: "after", request: "last edit" }],
  ["after the last edit, before the update is acknowledged", { when: "before", request: "me" }]
]

const nameOf = (method: string, path: string, body: string): At["request"] | undefined => {
  if (path === "/me") return "me"
  if (path !== "/messages") return undefined
  if (method === "POST") return "send"
  return method !== "PUT" ? undefined : body.includes("code11") ? "last edit" : "edit"
}

/** Plays an answer whose process is killed once. */
const play = Effect.fnUntraced(
  function* (kind: string, place: string, store: InboxStore.InboxStore["Service"], at: At | undefined) {
    const killed = yield* Deferred.make<void>()
    const isKilled = () => Deferred.isDoneUnsafe(killed)
    const counts: Counts = { send: 0, edit: 0, "last edit": 0, me: 0 }
    const model = yield* serveModel(
      () => (isKilled() ? Infinity : allowed(counts)),
      () => {
        if (at === undefined) Deferred.doneUnsafe(killed, Exit.void)
      }
    )
    yield* Emulator.intercept((request, next) =>
      Effect.flatMap(Effect.orDie(request.body.text), (body) => {
        const name = nameOf(request.method, request.path, body)
        if (name === undefined || isKilled()) return next
        counts[name]++
        if (name !== at?.request || counts[name] !== (at.number ?? 1)) return next
        const die = Effect.andThen(Deferred.succeed(killed, undefined), Effect.never)
        return at.when === "before" ? die : Effect.andThen(next, die)
      })
    )
    const ann = yield* Emulator.user("Ann")
    const dialog = yield* ann.start()
    const { url } = yield* EmulatorServer.EmulatorServer
    const bot = yield* startBot([kind, place, url, model.url])
    yield* ann.send("tell")
    yield* Deferred.await(killed)
    yield* bot.restart
    const ofBot = Effect.map(Emulator.messages(dialog), (messages) =>
      messages.filter(({ sender }) => sender?.is_bot === true)
    )
    yield* until(Effect.all([ofBot, store.stats]), ([{ length }, { queued }]) => length > 0 && queued === 0)
    const texts = (yield* ofBot).map(({ body }) => body?.text)
    return { asked: model.asked, texts }
  },
  (effect) =>
    Effect.provide(
      Effect.scoped(effect),
      EmulatorServer.layer().pipe(Layer.provideMerge(Layer.fresh(Emulator.layer({ token: "token" }))))
    )
)

describe("an answer whose process is killed", () => {
  for (const { isMissing, kind, opened } of databases) {
    describe.skipIf(isMissing)(`in ${kind}`, () => {
      // What differs between the stores are the records of the journal, which two points cover.
      it.live.each(kind === "SQLite" ? points : points.slice(1, 3))(
        "%s is one message with all of the text, and the model is not asked for what it has said",
        ([, at]) =>
          Effect.gen(function* () {
            const { at: place, store } = yield* opened
            const { asked, texts } = yield* play(kind, place, store, at)
            assert.deepStrictEqual(texts, [shown])
            assert.isAtMost(asked.length, 2)
            if (at?.request === "me") assert.deepStrictEqual(asked, [0])
            if (asked.length === 2 && at?.request !== "send") assert.isAbove(asked[1]!, 0)
          }).pipe(Effect.scoped)
      )
    })
  }
})
