/** Handlers that consist of random operations: messages, edits, steps, timers, state, failures, time limits, races. */
import * as Handler from "@colloquy/core/Handler"
import * as Update from "@colloquy/core/Update"
import * as Updates from "@colloquy/core/Updates"
import * as Emulator from "@colloquy/testing/Emulator"
import * as Effect from "effect/Effect"
import type { Simulation } from "../../platform.ts"
import { recorded } from "../instrument.ts"
import type { Host, Program } from "../program.ts"
import { auditHandlers } from "./audit.ts"
import { Later, operationOf, Seen } from "./operations.ts"
import { type HandlersPlan, planHandlers, smallerHandlers } from "./plan.ts"

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
    const handler = Effect.andThen(
      operations,
      Seen.update((all) => [...all, text])
    )
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
  return Updates.run(Handler.first(onMessage, onTimer), host.runOptions)
}

const people = ({ chats }: HandlersPlan, { history }: Simulation) =>
  Effect.forEach(
    chats,
    Effect.fnUntraced(function* ({ messages, type }, index) {
      const person = yield* Emulator.user(`Person ${index}`)
      const { chat_id } =
        type === "dialog"
          ? yield* person.start()
          : yield* Emulator.chat({ owner: person, bot: type === "readable" ? { admin: true } : {} })
      for (const { text, wait } of messages) {
        yield* Effect.sleep(wait)
        history.add({ type: "said", chat: String(chat_id), subject: text })
        yield* person.send(chat_id, text)
      }
    }),
    { concurrency: "unbounded", discard: true }
  )

export const handlers: Program<HandlersPlan> = {
  plan: planHandlers,
  smaller: smallerHandlers,
  bot,
  people,
  audit: auditHandlers
}
