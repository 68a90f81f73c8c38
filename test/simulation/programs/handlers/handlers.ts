/** Handlers that consist of random operations: messages, edits, steps, timers, state, failures, time limits, races. */
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Update from "@colloquy/core/model/Update"
import * as Bot from "@colloquy/core/bot/Bot"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Effect from "effect/Effect"
import type { Simulation } from "../../simulation.ts"
import { recorded } from "../instrument.ts"
import { sayIn } from "../people.ts"
import type { Host, Program } from "../program.ts"
import { auditHandlers } from "./audit.ts"
import { addSeen, Later, newerStep, operationOf } from "./operations.ts"
import { calmerHandlers, type HandlersPlan, planHandlers, smallerHandlers } from "./plan.ts"

const bot = ({ chats }: HandlersPlan, host: Host) => {
  const messages = new Map(chats.flatMap(({ messages }) => messages.map((message) => [message.text, message] as const)))
  const onMessage = Handler.on("message_created", (update) => {
    const text = Update.textOf(update) ?? ""
    const chat_id = Update.chatOf(update)
    const message = messages.get(text)
    if (message === undefined || chat_id === undefined) return undefined
    const operations = Effect.forEach(message.operations, (operation, index) =>
      operationOf(operation, { host, chat_id, text, index })
    )
    const handler = Effect.all([newerStep(host, text), operations, addSeen(host, text)])
    return recorded(host, String(chat_id), text, handler)
  })
  const onTimer = Later.on(({ id }, update) => {
    const chat = String(update.chat_id)
    const fire = Effect.suspend(() => {
      if (update.chat_id === undefined) return Effect.void
      return operationOf({ type: "send" }, { host, chat_id: update.chat_id, text: `fired ${id}`, index: 0 })
    })
    return recorded(host, chat, `timer later ${id}`, fire)
  })
  return Bot.run(Handler.first(onMessage, onTimer), host.runOptions)
}

const people = ({ chats }: HandlersPlan, simulation: Simulation) =>
  Effect.forEach(
    chats,
    Effect.fnUntraced(function* ({ messages, type }, index) {
      const person = yield* Emulator.user(`Person ${index}`)
      const { chat_id } =
        type === "dialog"
          ? yield* person.start()
          : yield* Emulator.chat({ owner: person, bot: type === "readable" ? { admin: true } : {} })
      if (type !== "dialog") simulation.owners.set(String(chat_id), person)
      for (const { text, wait } of messages) {
        yield* Effect.sleep(wait)
        yield* sayIn(simulation, person, chat_id, text)
      }
    }),
    { concurrency: "unbounded", discard: true }
  )

export const handlers: Program<HandlersPlan> = {
  plan: planHandlers,
  smaller: smallerHandlers,
  calmer: calmerHandlers,
  bot,
  people,
  audit: auditHandlers
}
