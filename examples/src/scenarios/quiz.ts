import { Emulator } from "@colloquy/testing"
import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  const ben = yield* Emulator.user("Ben")
  const group = yield* Emulator.chat({ owner: ann, members: [ben], bot: { admin: true } })
  const program = yield* Runner.start("quiz", yield* Runner.botSettings)
  yield* ann.does("/quiz", ann.send(group, "/quiz"))
  // Ben, whose view is not printed, answers one of the three questions.
  const answers = [
    ["Ann", "Canberra"],
    ["Ben", "Eight"],
    ["Ann", "Mercury"]
  ] as const
  for (const [name, choice] of answers) {
    const question = yield* ann.sees
    if (question._tag !== "Message") return
    const person = name === "Ann" ? ann : ben
    yield* ann.does(`(${name} presses ${choice})`, person.press(question.message, choice))
    yield* ann.sees
  }
  yield* ann.does("/best", ann.send(group, "/best"))
  yield* ann.sees
  yield* program.stop
})
