import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root, run } from "../scripts/internal/workspace.ts"

interface Mistake {
  /** The program `bot.ts`. The line of the mistake ends with `// here`. */
  readonly bot: string
  /** What the first error says. */
  readonly says: string
  /** The number of errors, with those of the programs that run and test the bot. Default: 1. */
  readonly errors?: 1 | 2
  /** The file of the first error, if the mistake is to leave out something there. Default: `bot.ts`. */
  readonly file?: "main.ts"
}

const imports = `import { Bot, Command, Conversation, DeepLink, Handler, Menu, Messages, State, Timer, Update } from "@colloquy/core"
import { Config, Context, Effect, Schema, Stream } from "effect"
void [Bot, Command, Config, Context, Conversation, DeepLink, Effect, Handler, Menu, Messages, Schema, State, Stream, Timer, Update]
`

/** A bot with one handler. */
const handling = (handler: string, before = "") => `${before}\nexport const bot = Bot.run(\n${handler}\n)\n`

/** A bot with a conversation, whose function has a line. */
const talking = (
  line: string,
  options = 'timeout: "1 day", texts: { unanswered: "Another time, then." }',
  before = ""
) =>
  `${before}
export const Order = Conversation.make("order", { of: "userInChat", ${options} }, Effect.fn(function* (talk) {
  const size = yield* talk.choose("size", { say: "Which size?", choices: { s: "Small", m: "Medium" } })
  ${line}
  yield* talk.say(\`A pizza of size \${size}\`)
}))
const order = Command.make("order").on(Order.start)
const rest = Handler.on("message_created", (update) => Messages.reply(update, "Send /order"))
export const bot = Bot.run(Bot.make(order, Order, rest))
`

const mistakes: Readonly<Record<string, Mistake>> = {
  "a misspelled type of update": {
    bot: handling(`Handler.on("mesage_created", (update) => Messages.reply(update, update.text)) // here`),
    says: `Argument of type '"mesage_created"' is not assignable to parameter of type '"bot_added" | `
  },
  "a reply to an update of any type, which may have no chat": {
    bot: handling(`(update) => Messages.reply(update, "Hello") // here`),
    says: `{ readonly update_type: "narrow the update first: Handler.on, Deliveries.on, or a check of its update_type"; } | Repliable`
  },
  "a text that may be missing": {
    bot: handling(`Handler.on("message_created", (update) => Messages.reply(update, Update.textOf(update))) // here`),
    says: `Argument of type 'string | undefined' is not assignable to parameter of type 'ReplyContent<MessageCreated>'.`
  },
  "an argument of a command with another type": {
    bot: handling(`Command.make("add", { arguments: { count: Command.Integer } }).on((update, { count }) =>
  Messages.reply(update, count) // here
)`),
    says: `Argument of type 'number' is not assignable to parameter of type 'ReplyContent<MessageCreated>'.`
  },
  "an argument that the command does not have": {
    bot: handling(`Command.make("add", { arguments: { count: Command.Integer } }).on((update, args) =>
  Messages.reply(update, args.cuont.toString()) // here
)`),
    says: `Property 'cuont' does not exist on type '{ readonly count: number; }'.`
  },
  "an async handler": {
    bot: handling(`Handler.on("message_created", async (update) => { await fetch(String(update)) }) // here`),
    says: `is not assignable to parameter of type '(update: MessageCreated) => Return<unknown, unknown>'.`
  },
  "a stream in place of an effect": {
    bot: handling(`Handler.on("message_created", () => Stream.make(1, 2, 3)) // here`),
    says: `Type 'Stream<1 | 2 | 3, never, never>' is not assignable to type 'Return<unknown, unknown>'.`
  },
  "a handler that returns a text": {
    bot: handling(`Handler.on("message_created", () => "Hello") // here`),
    says: `Type 'string' is not assignable to type 'Return<unknown, unknown>'.`
  },
  "a service without its layer": {
    bot: handling(
      `Handler.on("message_created", () => Orders.use(({ save }) => save))`,
      `class Orders extends Context.Service<Orders, { readonly save: Effect.Effect<void> }>()("Orders") {}`
    ),
    says: `Argument of type 'Effect<void, NodeBotError | SourceError, Orders>' is not assignable to parameter of type`,
    errors: 2,
    file: "main.ts"
  },
  "an effect whose `yield*` is missing": {
    bot: talking(`const name = talk.ask("name", { say: "Your name?" })
      yield* talk.say(name) // here`),
    says: `Argument of type 'Asked<string, { readonly say: "Your name?"; }, Unanswered, never>' is not assignable to parameter`
  },
  "a name of an older Effect in a conversation": {
    bot: talking(`yield* talk.say(yield* Config.string("KEY")) // here`),
    says: `Property 'string' does not exist on type`
  },
  "a name of an older Effect in a conversation that ends with an operator": {
    bot: talking(`yield* talk.say(yield* Config.string("KEY")) // here`).replace(
      "\n}))",
      `\n}, Effect.catchTag("Unanswered", () => Effect.void)))`
    ),
    says: `Property 'string' does not exist on type`,
    errors: 2
  },
  "a name of an older Effect in a conversation that ends with a function": {
    bot: talking(`yield* talk.say(yield* Config.string("KEY")) // here`).replace(
      "\n}))",
      `\n}, (effect, talk) => Effect.catchTag(effect, "Unanswered", () => talk.say("Another time, then."))))`
    ),
    says: `Property 'string' does not exist on type`,
    errors: 2
  },
  "a conversation that ends with an operator without the effect": {
    bot: talking("")
      .replace("function* (talk) {", "$& // here")
      .replace("\n}))", `\n}, () => Effect.tap(() => Effect.void)))`),
    says: `is not assignable to parameter of type '(talk: Talk<`
  },
  "a promise in a conversation": {
    bot: talking(`yield* fetch("https://pay.example") // here`),
    says: `Type 'Promise<Response>' must have a '[Symbol.iterator]()' method that returns an iterator.`
  },
  "a step whose error is unknown": {
    bot: talking(
      `yield* talk.step("pay", Schema.String, Effect.tryPromise({ try: pay, catch: (error) => error })) // here`,
      undefined,
      `declare const pay: () => Promise<string>`
    ),
    says: `"The error is unknown: let \`catch\` of Effect.tryPromise return an error with a _tag"`
  },
  "a step whose schema does not match": {
    bot: talking(`yield* talk.step("pay", Schema.Int, Effect.succeed("paid")) // here`),
    says: `Argument of type 'Effect<string, never, never>' is not assignable to parameter of type 'Effect<number, never, never>`
  },
  "a choice that the question does not have": {
    bot: talking(`if (size === "l") yield* talk.say("Large!") // here`),
    says: `the types '"m" | "s"' and '"l"' have no overlap.`
  },
  "an option that a conversation does not have": {
    bot: talking("", `\n    otherwize: "?" // here\n  `),
    says: `"The option \\"otherwize\\" does not exist"`
  },
  "an input of a conversation that is forgotten": {
    bot: talking("", "input: Schema.Struct({ topic: Schema.String })").replace(
      "(Order.start)",
      "(Order.start) // here"
    ),
    says: `is not assignable to parameter of type '(update: MessageCreated, args: {}) => `
  },
  "a value that a state does not have": {
    bot: handling(
      `Handler.on("message_created", () => Count.set("1")) // here`,
      `const Count = State.make("count", Schema.Int, { of: "user", initial: () => 0 })`
    ),
    says: `Argument of type 'string' is not assignable to parameter of type 'number'.`
  },
  "a misspelled owner of a state": {
    bot: handling(
      `Handler.on("message_created", () => Count.update((count) => count + 1))`,
      `const Count = State.make("count", Schema.Int, { of: "users", initial: () => 0 }) // here`
    ),
    says: `Did you mean '"user"'?`
  },
  "a state with keys of one's own without a key": {
    bot: handling(
      `Handler.on("message_created", () => Count.get) // here`,
      `const Count = State.make("count", Schema.Int, { of: Schema.String, initial: () => 0 })`
    ),
    says: `Property 'get' does not exist on type 'Keyed<number, String>'.`,
    errors: 2
  },
  "a page that a menu does not have": {
    bot: `const Settings = Menu.make("settings", { pages: { main: Schema.Void } }, {
  main: ({ open }) => ({ text: "Settings", rows: [[open("Next", "next")]] }) // here
})
${handling(`Command.make("settings").on((update) => Settings.reply(update))`)}`,
    says: `Argument of type '"next"' is not assignable to parameter of type '"main"'.`
  },
  "a value that a timer does not have": {
    bot: handling(
      `Handler.on("message_created", () => Reminder.in("1 minute", 5)) // here`,
      `const Reminder = Timer.make("reminder", Schema.String)`
    ),
    says: `'number' is not assignable to`
  }
}

/** The programs that run and test each bot, as a new project has them. */
const main = readFileSync(join(root, "packages/create/templates/main/src/polling-sqlite.ts"), "utf8")

const test = `import { LongPolling } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { bot } from "./bot.ts"

const platform = LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))

it.effect("answers", () =>
  Effect.flatMap(Emulator.user("Ann"), (ann) => ann.send("/order")).pipe(Effect.raceFirst(bot), Effect.provide(platform))
)
`

const project = JSON.parse(readFileSync(join(root, "packages/create/templates/files/tsconfig.json"), "utf8")) as {
  readonly compilerOptions: object
}

interface Problem {
  readonly file: string
  readonly line: number
  readonly text: string
}

/** The errors of each folder. */
const problemsOf = (output: string): ReadonlyMap<string, ReadonlyArray<Problem>> => {
  const problems = new Map<string, Array<Problem>>()
  let last: { text: string } | undefined
  for (const line of output.split("\n")) {
    const [, path, row, text] = /^(.+?)\((\d+),\d+\): error TS\d+: (.+)$/.exec(line) ?? []
    if (path === undefined) {
      if (last !== undefined) last.text += `\n${line}`
      continue
    }
    const [folder, file] = path.split("/").slice(-2) as [string, string]
    const problem = { file, line: Number(row), text: text! }
    last = problem
    problems.set(folder, [...(problems.get(folder) ?? []), problem])
  }
  return problems
}

describe("a mistake in the bot of a new project", () => {
  const all = Object.entries(mistakes)
  let folder = ""
  let problems: ReadonlyMap<string, ReadonlyArray<Problem>> = new Map()

  beforeAll(() => {
    folder = mkdtempSync(join(root, ".mistakes-"))
    const compilerOptions = { ...project.compilerOptions, customConditions: ["source"] }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*/*.ts"] }))
    for (const [at, [, { bot }]] of [...all, ["none", { bot: talking("") }] as const].entries()) {
      const into = join(folder, `bot${at}`)
      mkdirSync(into)
      writeFileSync(join(into, "bot.ts"), `${imports}${bot}`)
      writeFileSync(join(into, "main.ts"), main)
      writeFileSync(join(into, "test.ts"), test)
    }
    problems = problemsOf(run("tsc", ["-p", folder, "--pretty", "false"]).output)
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("is the only reason for errors", () => {
    assert.isUndefined(problems.get(`bot${all.length}`))
  })

  it.each(all.map(([name, mistake], at) => [name, mistake, at] as const))(
    "has at most two errors, the first at the mistake: %s",
    (_, { bot, errors = 1, file = "bot.ts", says }, at) => {
      const found = problems.get(`bot${at}`) ?? []
      const texts = found.map(({ file, line, text }) => `${file}:${line} ${text}`).join("\n")
      assert.lengthOf(found, errors, texts)
      assert.strictEqual(found[0]!.file, file, texts)
      if (file === "bot.ts") {
        const lines = `${imports}${bot}`.split("\n")
        assert.strictEqual(lines[found[0]!.line - 1]!.endsWith("// here"), true, texts)
      }
      assert.include(found[0]!.text, says)
      assert.notInclude(texts, "exactOptionalPropertyTypes")
    }
  )
})
