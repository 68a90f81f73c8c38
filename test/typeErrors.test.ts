import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root, run } from "../scripts/internal/workspace.ts"

interface Program {
  readonly code: string
  /** The start of the error, which is the only one. */
  readonly error: string
  /** What further lines of the error say. */
  readonly detail?: string
}

const reply = `Handler.on("message_created", (update) => Messages.reply(update, "Hello"))`
const chat = `chat_id: Chat.ChatId.make(42)`

const programs: Readonly<Record<string, Program>> = {
  "a misspelled type of update": {
    code: `Handler.on("mesage_created", (update) => Messages.reply(update, update.message?.body?.text ?? ""))`,
    error: `Argument of type '"mesage_created"' is not assignable to parameter of type '"bot_added" | `
  },
  "a misspelled type in a list": {
    code: `Handler.on(["message_created", "bot_start"], (update) => Messages.reply(update, "Hello"))`,
    error: `Argument of type '("bot_start" | "message_created")[]' is not assignable`,
    detail: `Did you mean '"bot_started"'?`
  },
  "a handler that returns no effect": {
    code: `Handler.on("message_created", () => "Hello")`,
    error: `Type 'string' is not assignable to type 'Return<unknown, unknown>'.`
  },
  "an async handler": {
    code: `Handler.on("message_created", async (update) => void update)`,
    error: `Type 'Promise<undefined>' is not assignable to type 'Return<unknown, unknown>'.`
  },
  "a plain number as the id of a chat": {
    code: `Messages.send({ chat_id: 42, text: "Hello" })`,
    error: `Type 'number' is not assignable to type 'number & Brand<"ChatId">'.`
  },
  "a message without a recipient": {
    code: `Messages.send({ text: "Hello" })`,
    error: `Argument of type '{ text: string; }' is not assignable to parameter of type 'SendRequest'.`
  },
  "a reply to any update": {
    code: `Handler.first((update) => Messages.reply(update, "Hello"))`,
    error:
      `Argument of type 'Update' is not assignable to parameter of type ` +
      `'{ readonly update_type: "narrow the update first: Handler.on, Deliveries.on, or a check of its update_type"; } | Repliable'.`
  },
  "a reply to any update of a stream": {
    code: `Updates.deliveries().pipe(Stream.runForEach(({ value }) => Messages.reply(value, "Hello")))`,
    error:
      `Argument of type 'Update' is not assignable to parameter of type ` +
      `'{ readonly update_type: "narrow the update first: Handler.on, Deliveries.on, or a check of its update_type"; } | Repliable'.`
  },
  "a field that another update has": {
    code: `Handler.on("message_created", (update) => Effect.log(update.chat_id))`,
    error: `Property 'chat_id' does not exist on type 'MessageCreated'.`
  },
  "a part of a message that may be missing": {
    code: `Handler.on("message_created", (update) => Effect.log(update.message.recipient))`,
    error: `'update.message' is possibly 'null' or 'undefined'.`
  },
  "an async predicate": {
    code: `Handler.filter(${reply}, async () => true)`,
    error: `No overload matches this call.`,
    detail: `Type 'Promise<boolean>' is not assignable to type 'boolean'.`
  },
  "an effect without the client that it requires": {
    code: `Effect.runPromise(Messages.send({ ${chat}, text: "Hello" }))`,
    error: `Argument of type 'Effect<Message, AttachmentNotReady | Forbidden | NotFound | Common, BotApi>' is not assignable`,
    detail: `Type 'BotApi' is not assignable to type 'never'.`
  },
  "a statement in the commit of an inbox in memory": {
    code: `Effect.runPromise(Bot.run(() => Commit.add(statement)).pipe(Effect.provide(inMemory)))`,
    error: `Argument of type 'Effect<void, SourceError, SqlTransactions>' is not assignable`,
    detail: `Type 'SqlTransactions' is not assignable to type 'never'.`
  },
  "a statement in the commit of an inbox in Redis": {
    code: `Effect.runPromise(Bot.run(() => Commit.add(statement)).pipe(Effect.provide(inRedis)))`,
    error: `Argument of type 'Effect<void, SourceError, SqlTransactions>' is not assignable`,
    detail: `Type 'SqlTransactions' is not assignable to type 'never'.`
  },
  "a statement that is no statement": {
    code: `Bot.run(() => Commit.add("DELETE FROM orders"))`,
    error: `Argument of type 'string' is not assignable to parameter of type 'Statement<unknown>'.`
  },
  "a keyboard in place of a list of attachments": {
    code: `Messages.send({ ${chat}, text: "Hello", attachments: Keyboard.make([Keyboard.callback("Yes")]) })`,
    error: `Type 'Keyboard' is missing the following properties from type 'readonly AttachmentRequest[]'`
  },
  "a button in place of a row": {
    code: `Keyboard.make(Keyboard.callback("Yes"))`,
    error: `Argument of type 'Button' is not assignable to parameter of type 'readonly Button[]'.`
  },
  "an attachment in a comment": {
    code: `Handler.on("comment_created", (update) => Messages.reply(update, { text: "Hello", attachments: [] }))`,
    error: `Object literal may only specify known properties, and 'attachments' does not exist in type`
  },
  "a button of a menu whose function returns no effect": {
    code: `Menu.make("m", () => ({ text: "Menu", rows: [[Menu.button("a", "A", () => "done")]] }))`,
    error: `Type 'string' is not assignable to type 'Return<unknown, unknown>'.`
  },
  "a page that a menu does not have": {
    code: `Menu.make("m", { pages: { main: Schema.Void } }, { main: ({ open }) => ({ rows: [[open("Next", "next")]] }) })`,
    error: `Argument of type '"next"' is not assignable to parameter of type '"main"'.`
  },
  "a state that a scene does not have": {
    code: `Scene.make("s", { of: "chat", states: { one: Schema.Void } }, { one: { enter: ({ go }) => go("two") } })`,
    error: `Argument of type '"two"' is not assignable to parameter of type '"one"'.`
  },
  "a misspelled option": {
    code: `Bot.run(${reply}, { concurency: 1 })`,
    error: `Object literal may only specify known properties, but 'concurency' does not exist in type 'RunOptions<`,
    detail: `Did you mean to write 'concurrency'?`
  }
}

const settings = {
  extends: "../tsconfig.base.json",
  compilerOptions: { composite: false, incremental: false, noEmit: true, types: ["node"] },
  include: ["*.ts"]
}

const imports = [
  `import { Bot, Chat, Commit, Handler, Inbox, Keyboard, Menu, Messages, Scene, Updates } from "@colloquy/core"`,
  `import { RedisInboxStore } from "@colloquy/node"`,
  `import { NodeRedis } from "@effect/platform-node"`,
  `import { Effect, Layer, Schema, Stream } from "effect"`,
  `import type { Statement } from "effect/sql"`,
  `declare const statement: Statement.Statement<unknown>`,
  `const inMemory = Updates.layer(Stream.empty).pipe(Layer.provide(Inbox.layerMemory()))`,
  `const redis = Inbox.layer().pipe(Layer.provide(RedisInboxStore.layer()), Layer.provide(Layer.orDie(NodeRedis.layer())))`,
  `const inRedis = Updates.layer(Stream.empty).pipe(Layer.provide(redis))`,
  `void [Bot, Chat, Commit, Effect, Handler, Keyboard, Menu, Messages, Scene, Schema, statement, Updates, inMemory, inRedis]`
].join("\n")

/** The errors of each file, with the lines that belong to them. */
const errorsOf = (output: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const errors = new Map<string, Array<string>>()
  let current: Array<string> = []
  for (const line of output.split("\n")) {
    const [, file, text] = /^(.+?)\(\d+,\d+\): error TS\d+: (.+)$/.exec(line) ?? []
    if (file === undefined) {
      if (current.length > 0) current[current.length - 1] += `\n${line}`
      continue
    }
    const name = basename(file)
    current = errors.get(name) ?? []
    current.push(text)
    errors.set(name, current)
  }
  return errors
}

describe("the type error of a wrong program", () => {
  const all = Object.entries(programs)
  let folder = ""
  let errors: ReadonlyMap<string, ReadonlyArray<string>> = new Map()

  beforeAll(() => {
    folder = mkdtempSync(join(root, ".programs-"))
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings))
    all.forEach(([, { code }], at) =>
      writeFileSync(join(folder, `program${at}.ts`), `${imports}\nexport const made = ${code}\n`)
    )
    errors = errorsOf(run("tsc", ["-p", folder, "--pretty", "false"]).output)
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(all.map(([name, code], at) => [name, code, at] as const))(
    "is one error that names it: %s",
    (_, { detail = "", error }, at) => {
      const found = errors.get(`program${at}.ts`) ?? []
      assert.lengthOf(found, 1, found.join("\n"))
      assert.strictEqual(found[0].slice(0, error.length), error)
      assert.include(found[0], detail)
    }
  )
})
