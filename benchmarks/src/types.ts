/** What the types of a bot cost the compiler and the editor, over a program of the same length with Effect alone. */
import { spawn, spawnSync } from "node:child_process"
import { mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build, withFolder } from "./bundle.ts"
import { compare, type Measured } from "./figure.ts"
import { takeTurns } from "./rounds.ts"

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const compilers = {
  7: path("../../node_modules/typescript/bin/tsc"),
  6: path("../node_modules/typescript-6/lib/tsc.js")
} as const

const server = path("../node_modules/typescript-6/lib/tsserver.js")

const times = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join("\n")

const names = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i}`).join(", ")

/** 30 commands and 3 conversations. */
const bot = `import { Bot, Command, Conversation, Messages } from "@colloquy/core"
import { Effect, Schema } from "effect"

const Guests = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 12 }))
${times(
  30,
  (i) => `
const command${i} = Command.make("command${i}", { description: "Command ${i}" }).on((update) =>
  Messages.reply(update, "Answer ${i}").pipe(
    Effect.tap((message) => Effect.log(message.body?.mid)),
    Effect.catchTag("Forbidden", (error) => Effect.log(error.detail))
  )
)`
)}
${times(
  3,
  (i) => `
const conversation${i} = Conversation.make(
  "conversation${i}",
  { of: "userInChat", timeout: "10 minutes" },
  Effect.fn(
    function* (talk) {
      const day = yield* talk.choose("day", { say: "Which day?", choices: { today: "Today", tomorrow: "Tomorrow" } })
      const guests = yield* talk.ask("guests", { say: "For how many?", read: Guests })
      const isRight = yield* talk.confirm("right", { say: \`A table for \${guests}, \${day}. Is that right?\` })
      return yield* talk.say(isRight ? "Booked." : "Begin again.")
    },
    (conversation, talk) => Effect.catchTag(conversation, "Unanswered", () => talk.say("No answer."))
  )
)`
)}

export const program = Bot.run(Bot.make(${names(30, "command")}, ${names(3, "conversation")}))
`

/** The same number of effects, errors, schemas and generators. */
const plain = `import { Context, Effect, Schema } from "effect"

class Refused extends Schema.TaggedError<Refused>()("Refused", { detail: Schema.String }) {}
class Unanswered extends Schema.TaggedError<Unanswered>()("Unanswered", { question: Schema.String }) {}

const Message = Schema.Struct({ body: Schema.optionalKey(Schema.Struct({ mid: Schema.String })) })

class Sender extends Context.Service<
  Sender,
  { readonly send: (text: string) => Effect.Effect<typeof Message.Type, Refused> }
>()("Sender") {}

class Asker extends Context.Service<Asker, { readonly ask: (text: string) => Effect.Effect<unknown, Unanswered> }>()("Asker") {}

const Guests = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 12 }))
${times(
  30,
  (i) => `
const command${i} = Effect.fn("command${i}")((text: string) =>
  Sender.use(({ send }) => send(text)).pipe(
    Effect.tap((message) => Effect.log(message.body?.mid)),
    Effect.catchTag("Refused", (error) => Effect.log(error.detail))
  )
)`
)}
${times(
  3,
  (i) => `
const conversation${i} = Effect.fn("conversation${i}")(
  function* (name: string) {
    const { ask } = yield* Asker
    const day = yield* Effect.flatMap(ask(\`Which day, \${name}?\`), Schema.decodeUnknownEffect(Schema.Literals(["today", "tomorrow"])))
    const guests = yield* Effect.flatMap(ask("For how many?"), Schema.decodeUnknownEffect(Guests))
    const isRight = yield* Effect.flatMap(ask(\`A table for \${guests}, \${day}?\`), Schema.decodeUnknownEffect(Schema.Boolean))
    return isRight ? "Booked." : "Begin again."
  },
  (conversation) => Effect.catchTag(conversation, "Unanswered", () => Effect.succeed("No answer."))
)`
)}

export const program = Effect.all([${Array.from({ length: 30 }, (_, i) => `command${i}("")`).join(", ")}, ${Array.from({ length: 3 }, (_, i) => `conversation${i}("")`).join(", ")}])
`

const settings = JSON.stringify({
  compilerOptions: {
    target: "ES2024",
    lib: ["ESNext"],
    module: "NodeNext",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"]
  },
  include: ["program.ts"]
})

interface Diagnostics {
  readonly millis: number
  readonly instantiations: number
  readonly megabytes: number
}

const check = (compiler: keyof typeof compilers, folder: string): Diagnostics => {
  const start = performance.now()
  const { status, stdout } = spawnSync(process.execPath, [compilers[compiler], "--extendedDiagnostics"], {
    cwd: folder,
    encoding: "utf8"
  })
  const millis = performance.now() - start
  if (status !== 0) throw new Error(stdout)
  const number = (name: string) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(stdout)?.[1])
  return { millis, instantiations: number("Instantiations"), megabytes: number("Memory used") / 1000 }
}

/** The time of a first completion after a dot, when the file is open and checked, and of the next. */
const completions = (file: string, text: string, after: string): Promise<ReadonlyArray<number>> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [server, "--disableAutomaticTypingAcquisition"], {
      stdio: ["pipe", "pipe", "inherit"]
    })
    const at = text.lastIndexOf(after) + after.length
    const lines = text.slice(0, at).split("\n")
    const position = { file, line: lines.length, offset: lines.at(-1)!.length + 1 }
    const send = (command: string, values: object) =>
      child.stdin.write(`${JSON.stringify({ seq: 0, type: "request", command, arguments: values })}\n`)
    const taken: Array<number> = []
    let start = 0
    const ask = () => {
      start = performance.now()
      send("completionInfo", position)
    }
    let output = ""
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString()
      const found = output.indexOf('"command":"completionInfo"')
      const checked = output.indexOf('"command":"semanticDiagnosticsSync"')
      if (found === -1 && checked === -1) return
      if (!output.endsWith("\n")) return
      if (found !== -1) taken.push(performance.now() - start)
      output = ""
      if (taken.length < 2) ask()
      else {
        child.kill()
        resolve(taken)
      }
    })
    child.once("error", reject)
    send("open", { file, fileContent: text })
    send("semanticDiagnosticsSync", { file })
  })

export const typesCost = (): Promise<Measured> =>
  withFolder(async (folder) => {
    build()
    const write = async (name: string, text: string) => {
      const into = join(folder, name)
      await mkdir(into)
      await symlink(path("../../node_modules"), join(into, "node_modules"))
      await writeFile(join(into, "package.json"), `{ "type": "module" }`)
      await writeFile(join(into, "tsconfig.json"), settings)
      await writeFile(join(into, "program.ts"), text)
      return into
    }
    const folders = { bot: await write("bot", bot), plain: await write("plain", plain) }
    const details: Array<string> = []
    const ratios: Array<Measured> = []
    for (const compiler of [7, 6] as const) {
      const last = { bot: check(compiler, folders.bot), plain: check(compiler, folders.plain) }
      const contender = (name: keyof typeof folders) => () => check(compiler, folders[name]).millis
      const costs = await takeTurns({ bot: contender("bot"), plain: contender("plain") }, { rounds: 5 })
      const measured = compare({ name: "a bot", costs: costs.bot }, { name: "Effect alone", costs: costs.plain }, "ms")
      const both = (key: "instantiations" | "megabytes") =>
        `${last.bot[key].toFixed(0)} over ${last.plain[key].toFixed(0)}`
      details.push(
        `TypeScript ${compiler}: ${measured.value.toFixed(2)}, ${measured.detail}, ${both("instantiations")} instantiations, ${both("megabytes")} MB`
      )
      ratios.push(measured)
    }
    const [first, next] = await completions(join(folders.bot, "program.ts"), bot, "Messages.")
    details.push(`a completion after "Messages." ${first.toFixed(0)} ms, and then ${next.toFixed(0)} ms`)
    return { value: ratios[0].value, also: ratios[1].value, detail: details.join("; ") }
  })
