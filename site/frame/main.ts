import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { mount } from "../../packages/testing/ui/App.tsx"
import { follow } from "../../packages/testing/ui/events.ts"
import { openChat, panes, tool } from "../../packages/testing/ui/store.ts"
import { theme } from "../../packages/testing/ui/theme.ts"
import { setTransport } from "../../packages/testing/ui/transport.ts"
import { makeRuntime, makeTransport } from "./emulator.ts"
import { loadBot, ProgramError } from "./program.ts"
import type { FromFrame, ToFrame } from "./protocol.ts"

const tell = (message: FromFrame): void => parent.postMessage(message, location.origin)

// The chat focuses its field, which must not scroll the page around the frame.
const { focus } = HTMLElement.prototype
HTMLElement.prototype.focus = function (options) {
  focus.call(this, { ...options, preventScroll: true })
}

const runtime = makeRuntime((line) => tell({ type: "log", line }))

setTransport(makeTransport(runtime))

let running: Fiber.Fiber<unknown, unknown> | undefined

const run = async (code: string): Promise<void> => {
  if (running !== undefined) await runtime.runPromise(Fiber.interrupt(running))
  running = undefined
  try {
    const bot = await loadBot(code)
    const fiber = runtime.runFork(bot)
    running = fiber
    fiber.addObserver((exit) => {
      if (running !== fiber) return
      tell({ type: "stopped", message: Exit.isSuccess(exit) ? "The program has ended." : Cause.pretty(exit.cause) })
    })
    tell({ type: "running" })
  } catch (error) {
    tell({
      type: "stopped",
      message: error instanceof Error ? error.message : String(error),
      line: error instanceof ProgramError ? error.line : undefined
    })
  }
}

addEventListener("message", ({ data, origin }: MessageEvent<ToFrame>) => {
  if (origin !== location.origin) return
  if (data.type === "run") void run(data.code)
  if (data.type === "theme") theme.value = data.theme
})

/** The reader, who has started the bot. */
const reader = await runtime.runPromise(
  Effect.gen(function* () {
    const person = yield* Emulator.user("You")
    return yield* person.start()
  })
)

tool.value = undefined
mount(document.getElementById("page")!)
await follow()
openChat(panes.value[0]!, reader.chat_id)
tell({ type: "ready" })
