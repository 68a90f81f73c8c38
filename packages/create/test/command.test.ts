import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { type Cause, Console, Effect, Exit, FileSystem, Option, Queue, Runtime, Terminal } from "effect"
import { stripVTControlCharacters } from "node:util"
import { templates } from "../src/choices.ts"
import { main } from "../src/command.ts"
import { isPackageName, validNameFor } from "../src/names.ts"

const key = (name: string, input?: string): Terminal.UserInput => ({
  input: Option.fromUndefinedOr(input),
  key: { name, ctrl: false, meta: false, shift: false }
})

const enter = key("return")

/** Runs the command in a terminal in which a person types this text, in which a line break is Enter, and then Ctrl-C. */
const runWith = Effect.fnUntraced(function* (text: string) {
  const keys = yield* Queue.unbounded<Terminal.UserInput, Cause.Done>()
  yield* Queue.offerAll(
    keys,
    [...text].map((letter) => (letter === "\n" ? enter : key(letter, letter)))
  )
  yield* Queue.end(keys)
  const frames: Array<string> = []
  const errors: Array<string> = []
  const terminal = Terminal.make({
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    size: Queue.unbounded<Terminal.Size, Cause.Done>(),
    readLine: Effect.never,
    readInput: Effect.succeed(keys),
    display: (text) => Effect.sync(() => void frames.push(stripVTControlCharacters(text)))
  })
  const console: Console.Console = Object.assign(Object.create(globalThis.console) as Console.Console, {
    error: (...args: ReadonlyArray<unknown>) => void errors.push(args.join(" "))
  })
  const exit = yield* main(["--no-install"], "npm", true).pipe(
    Effect.provideService(Terminal.Terminal, terminal),
    Effect.provideService(Console.Console, console),
    Effect.exit
  )
  return { exit, errors, frames }
})

const codeOf = (exit: Exit.Exit<unknown, unknown>): number =>
  Exit.isFailure(exit) ? Runtime.getErrorExitCode(Option.getOrUndefined(Exit.findErrorOption(exit))) : 0

describe("create-colloquy in a terminal", () => {
  it.layer(NodeServices.layer)((it) => {
    it.effect("replaces the default name of the folder by typing, and takes the default for an empty text", () =>
      Effect.gen(function* () {
        const { frames } = yield* runWith("tea-bot\n")
        assert.include(frames[0], "? Name of the folder (my-bot) ›")
        assert.isTrue(frames.some((frame) => frame.includes("✔ Name of the folder (my-bot) … tea-bot\n")))
        assert.isTrue((yield* runWith("\n")).frames.some((frame) => frame.includes("? Which bot?")))
      })
    )

    it.effect("proposes a valid name for an invalid one, and asks again", () =>
      Effect.gen(function* () {
        const { frames } = yield* runWith("Tee für zwei\n")
        const problem = '"Tee für zwei" cannot be the name of a package. Use tee-fur-zwei.'
        assert.include(frames.join(""), problem)
        assert.isFalse(frames.some((frame) => frame.includes("Which bot?")))
      })
    )

    it.effect("shows the descriptions of all choices at the same time, each on one line of 80 columns", () =>
      Effect.gen(function* () {
        const question = (yield* runWith("\n")).frames.find((frame) => frame.includes("? Which bot?")) ?? ""
        const lines = question.split("\n").map((line) => line.trimEnd())
        for (const description of Object.values(templates)) {
          const line = lines.find((line) => line.endsWith(description)) ?? ""
          assert.isTrue(line.length > description.length && line.length <= 80, description)
        }
      })
    )

    it.effect("ends with Ctrl-C in every question: the cursor is in a new line, and no file was written", () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const folder = `${yield* files.makeTempDirectoryScoped()}/tea-bot`
        for (const answers of ["", `${folder}\n`, `${folder}\n\n`, `${folder}\n\n\n`]) {
          const { errors, exit } = yield* runWith(answers)
          assert.deepStrictEqual(errors, ["", "create-colloquy: Nothing was created."])
          assert.strictEqual(codeOf(exit), 130)
          assert.isFalse(yield* files.exists(folder))
        }
      })
    )
  })
})

describe("validNameFor", () => {
  it.each([
    ["My Bot", "my-bot"],
    ["Café!", "cafe"],
    ["__Tea  & Cake__", "tea-cake"],
    ["x".repeat(300), "x".repeat(214)],
    ["чай", undefined]
  ])("returns a name that npm accepts for %s, if there is one", (name, valid) => {
    assert.strictEqual(validNameFor(name), valid)
    assert.isFalse(isPackageName(name))
    if (valid !== undefined) assert.isTrue(isPackageName(valid))
  })
})
