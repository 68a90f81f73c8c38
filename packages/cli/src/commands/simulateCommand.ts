import * as Flag from "effect/cli/Flag"
import type * as Simulation from "@colloquy/testing/simulation/Simulation"
import * as Effect from "effect/Effect"
import { mkdir, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, relative, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { action } from "../base/commands.ts"
import { type AnyBot, importProgram, type Program } from "../base/botModule.ts"
import { type CommandFailed, failed, invalid, toFailure } from "../base/failure.ts"
import { optional, textArgument } from "../base/flags.ts"
import { count, print } from "../base/output.ts"
import { Process } from "../base/settings.ts"

type Options = Simulation.Options<Simulation.Services, unknown>

/** The modules of the project of the bot: a bot and its simulation have one copy of Effect. */
interface Project {
  readonly effect: typeof Effect
  readonly simulation: typeof Simulation
}

const importFrom = (file: string, specifier: string): Effect.Effect<unknown, CommandFailed> =>
  Effect.tryPromise({
    try: () => import(pathToFileURL(createRequire(file).resolve(specifier)).href),
    catch: () =>
      invalid(
        "The project of the bot does not have @colloquy/testing, which simulates bots. Run npm install --save-dev @colloquy/testing."
      )
  })

const projectOf = (file: string): Effect.Effect<Project, CommandFailed> =>
  Effect.all({
    effect: importFrom(file, "effect/Effect"),
    simulation: importFrom(file, "@colloquy/testing/simulation/Simulation")
  }) as Effect.Effect<Project, CommandFailed>

/** Runs the simulation by the Effect of the project. Returns how a seed has failed. */
const failureOf = (
  { effect, simulation }: Project,
  bot: AnyBot,
  options: Options
): Effect.Effect<Simulation.SimulationFailed | undefined, CommandFailed> => {
  const outcome = effect.match(simulation.run(bot, options), {
    onFailure: (failure) => failure,
    onSuccess: () => undefined
  }) as Effect.Effect<Simulation.SimulationFailed | undefined>
  return Effect.tryPromise({
    try: (signal) => effect.runPromise(outcome, { signal }),
    catch: toFailure
  })
}

/** A value as code. */
const codeOf = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll(/"(\w+)":/g, " $1: ")
    .replaceAll(/,(?! )/g, ", ")
    .replaceAll("}", " }")

/** The text of a test that fails as the seed did. */
const testOf = (
  { name, path, simulation }: Pick<Program, "name" | "path" | "simulation">,
  from: string,
  options: Options,
  { case: seedCase, rule }: Simulation.SimulationFailed
): string => {
  const module = relative(dirname(from), path).replaceAll("\\", "/")
  const names = [name, ...(simulation === undefined ? [] : ["simulation"])].join(", ")
  const own = codeOf({ ...options, seeds: [seedCase] }).slice(1)
  return `import { Simulation } from "@colloquy/testing"
import { it } from "@effect/vitest"
import { ${names} } from "${module.startsWith(".") ? module : `./${module}`}"

it.effect(
  ${JSON.stringify(`keeps the rule ${rule}`)},
  () => Simulation.run(${name}, {${simulation === undefined ? "" : " ...simulation,"}${own}),
  60_000
)
`
}

const write = (file: string, text: string): Effect.Effect<void, CommandFailed> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    },
    catch: (error) => failed(`The test cannot be written: ${toFailure(error).message}`)
  })

const number = (name: string, description: string) => Flag.Int(name).pipe(optional(description))

/** Simulates a bot. */
export const simulate = action(
  "simulate",
  "Simulates a bot: people use it for some days of virtual time, while its processes, the platform and the store fail",
  {
    file: textArgument("MODULE", "The module that exports the bot, for example src/bot.ts"),
    seeds: number("seeds", "The number of seeds. Default: 100"),
    days: number("days", "The number of days of virtual time. Default: 7"),
    people: number("people", "The number of people. Default: 10"),
    faults: Flag.Literals("faults", ["none", "mild", "harsh"]).pipe(
      optional("How often something fails. Default: mild")
    ),
    write: Flag.String("write").pipe(
      optional("The file for a test that repeats a failure. Default: the test is printed")
    )
  },
  Effect.fnUntraced(function* ({ file, write: target, ...flags }) {
    const { cwd } = yield* Process
    const module = yield* importProgram(file)
    const own: Options = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
    const options = { ...module.simulation, ...own }
    const begin = process.cpuUsage()
    const failure = yield* failureOf(yield* projectOf(module.path), module.bot, options)
    const { days = 7, seeds = 100 } = options
    const number = typeof seeds === "number" ? seeds : seeds.length
    if (failure === undefined) {
      const { system, user } = process.cpuUsage(begin)
      const seconds = (system + user) / 1e6
      const perMinute = Math.round((60 * days * number) / seconds)
      const cost = `The simulation took ${seconds.toFixed(1)} s of CPU time: ${perMinute} days in a minute.`
      const text = `${count(number, "seed")} of ${count(days, "day")} each: all rules hold. ${cost}`
      return yield* print({ isSuccess: true, seeds: number, days, cpu_seconds: seconds }, text)
    }
    const path = resolve(cwd, target ?? "test/simulation.test.ts")
    const { seeds: _, ...rest } = own
    const test = testOf(module, path, rest, failure)
    if (target !== undefined) yield* write(path, test)
    const { case: seedCase, message, rule, seed } = failure
    const repeated = target === undefined ? `A test that repeats this:\n\n${test}` : `${target} repeats this.`
    yield* print({ isSuccess: false, seed, rule, story: message, case: seedCase, test }, `${message}\n\n${repeated}`)
    return yield* failed(`the seed ${seed} breaks the rule ${rule}`)
  })
)
