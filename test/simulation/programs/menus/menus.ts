/** A menu with counters, a toggle and pages, whose values are state. */
import * as Command from "@colloquy/core/bot/Command"
import * as Handler from "@colloquy/core/inbox/Handler"
import * as Menu from "@colloquy/core/dialog/Menu"
import * as State from "@colloquy/core/bot/State"
import * as Bot from "@colloquy/core/bot/Bot"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Recording, Violation } from "../../auditor/recording.ts"
import type { Simulation } from "../../simulation.ts"
import type { Dice } from "../../../../packages/testing/src/simulation/internal/world/dice.ts"
import { ofType } from "../../history.ts"
import { recordedHandler } from "../instrument.ts"
import { press, say, waitFor, waitForEdit } from "../people.ts"
import type { Host, Program } from "../program.ts"
import { smallerLists, withSmaller } from "../smaller.ts"

const Counter = State.make("counter", Schema.Int, { of: "user", initial: () => 0 })

const Sound = State.make("sound", Schema.Boolean, { of: "user", initial: () => false })

type Move = "plus" | "toggle" | "page"

export interface MenusPlan {
  readonly people: ReadonlyArray<ReadonlyArray<Move>>
  /** Maximum time that a person thinks, in milliseconds. */
  readonly think: number
}

const plan = (dice: Dice): MenusPlan => ({
  people: Array.from({ length: 1 + dice.int(4) }, () =>
    Array.from({ length: 1 + dice.int(10) }, () => dice.pick<Move>(["plus", "plus", "toggle", "page"]))
  ),
  think: dice.pick([0, 2000, 20_000])
})

const smaller = (plan: MenusPlan): ReadonlyArray<MenusPlan> => [
  ...smallerLists(plan.people, 1).map((people) => ({ ...plan, people })),
  ...withSmaller(plan.people, (moves) => smallerLists(moves, 1)).map((people) => ({ ...plan, people }))
]

const settingsOf = (version: number) =>
  Menu.make(
    "settings",
    { version, pages: { main: Schema.Void, more: Schema.Void } },
    {
      main: ({ open }) =>
        Effect.gen(function* () {
          const count = yield* Counter.get
          const sound = yield* Sound.get
          return {
            text: `main ${count} ${sound ? "on" : "off"}`,
            rows: [
              [Menu.button("plus", "Plus", () => Counter.update((count) => count + 1))],
              [Menu.toggle("sound", "Sound", sound, Sound.set)],
              [open("More", "more")]
            ]
          }
        }),
      more: () => Effect.succeed({ text: "more", rows: [[Menu.back("Back")]] })
    }
  )

const bot = (_: MenusPlan, host: Host) => {
  const settings = settingsOf(host.version)
  const handler = Handler.first(
    Command.make("settings", { arguments: { person: Schema.String } }).on((update) => settings.reply(update)),
    settings
  )
  return Bot.run(recordedHandler(host, handler), host.runOptions)
}

const people = ({ people, think }: MenusPlan, simulation: Simulation) =>
  Effect.forEach(
    people,
    Effect.fnUntraced(function* (moves, index) {
      const person = yield* Emulator.user(`Person ${index}`)
      yield* person.start()
      yield* say(simulation, person, `/settings ${index}`)
      const message = yield* waitFor(person, (text) => text.startsWith("main"))
      const note = (what: string, value: string) =>
        simulation.history.add({ type: "noted", process: "people", what, subject: String(person.user_id), value })
      let count = 0
      let isOn = false
      for (const move of moves) {
        yield* Effect.sleep(simulation.world.dice.int(think + 1))
        if (move === "page") {
          yield* press(simulation, person, message, "More")
          // A page that is not shown stays behind: an edit is made in one attempt.
          if (!(yield* waitForEdit(person, message, (text) => text === "more"))) break
          yield* press(simulation, person, message, "Back")
        } else {
          // The second button changes its text.
          yield* press(simulation, person, message, move === "plus" ? [0, 0] : [1, 0])
          if (move === "plus") count++
          else isOn = !isOn
        }
        const shown = `main ${count} ${isOn ? "on" : "off"}`
        note("expects", shown)
        if (!(yield* waitForEdit(person, message, (text) => text === shown))) break
      }
    }),
    { concurrency: "unbounded", discard: true }
  )

const audit = (_: MenusPlan, { ending, events }: Recording): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const last = new Map(
    ofType(events, "noted").flatMap(({ subject, value, what }) => (what === "expects" ? [[subject, value]] : []))
  )
  for (const [user, expected] of last) {
    const valueOf = (state: string) =>
      ending.states.find(({ name, scope }) => name === state && scope === `user:${user}`)?.value
    const actual = `main ${Number(valueOf("counter") ?? 0)} ${valueOf("sound") === true ? "on" : "off"}`
    if (actual !== expected)
      violations.push({ rule: "each press of a menu counts once", detail: `${actual} instead of ${expected}` })
  }
  return violations
}

export const menus: Program<MenusPlan> = { plan, smaller, bot, people, audit }
