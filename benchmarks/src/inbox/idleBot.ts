/**
 * A bot with a webhook that receives no updates, or a bare server: `idleBot.ts STORE NAME` or `idleBot.ts`. On request, it
 * reports the CPU time that it has used, and how often it has called its store.
 */
import { Bot, Inbox } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Webhook from "@colloquy/core/inbox/Webhook"
import { NodeWebhook } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { createServer } from "node:http"
import { secret } from "../deliveries.ts"
import { endWithParent, onParentMessage, tellParent } from "../processes.ts"
import { cpuTime } from "../rounds.ts"
import * as places from "./places.ts"
import { layerSource } from "./traffic.ts"

export interface Usage {
  /** CPU time in microseconds. */
  readonly cpu: number
  readonly calls: number
}

let calls = 0

/** Counts the calls of a service, and of the services that are its members. */
const counting = <A extends object>(service: A): A =>
  new Proxy(service, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver)
      if (Effect.isEffect(member)) {
        return Effect.suspend(() => {
          calls++
          return member
        })
      }
      if (typeof member === "function") {
        return (...args: ReadonlyArray<unknown>): unknown => {
          calls++
          return Reflect.apply(member, target, args)
        }
      }
      return typeof member === "object" && member !== null ? counting(member) : member
    }
  })

const bot = (place: places.Place) => {
  const store = Layer.effect(InboxStore.InboxStore, Effect.map(InboxStore.InboxStore, counting)).pipe(
    Layer.provide(places.layer(place))
  )
  const webhook = NodeWebhook.layerServer({ port: 0, host: "127.0.0.1" }).pipe(
    Layer.provideMerge(Webhook.layerReceiver({ url: "https://bot.example/updates", secret })),
    Layer.provideMerge(Inbox.layer()),
    Layer.provide(store),
    Layer.provideMerge(Logger.layer([]))
  )
  const bot = Layer.provideMerge(
    layerSource(() => Effect.never),
    webhook
  )
  return Bot.run(() => Effect.void).pipe(Effect.provide(bot))
}

const bare = Effect.callback<void>(() => {
  createServer((_, response) => response.end()).listen(0, "127.0.0.1")
})

endWithParent()
onParentMessage(() => tellParent({ cpu: cpuTime(), calls } satisfies Usage))
Effect.runFork(process.argv[2] === undefined ? bare : bot(places.fromArguments(process.argv.slice(2))))
