import * as Argument from "effect/cli/Argument"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Prompt from "effect/cli/Prompt"
import * as Console from "effect/Console"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Runtime from "effect/Runtime"
import * as ChildProcess from "effect/process/ChildProcess"
import { type Choices, type Manager, managers, sources, stores, templateFolder, templates } from "./choices.ts"
import { isPackageName, validNameFor } from "./names.ts"
import { filesOf, fill } from "./project.ts"

/** Why no project was created, in one line. */
class CreateError extends Data.TaggedError("CreateError")<{ readonly message: string }> {}

/** A question was answered with Ctrl-C. The exit code is that of a program that was ended by SIGINT. */
class Cancelled extends Data.TaggedError("Cancelled")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 130
}

const defaultFolder = "my-bot"

const failWith = (message: string) => new CreateError({ message })

const keysOf = <K extends string>(record: Readonly<Record<K, string>>) => Object.keys(record) as Array<K>

const choice = <K extends string>(name: string, descriptions: Readonly<Record<K, string>>, description: string) =>
  Flag.Literals(name, keysOf(descriptions)).pipe(Flag.withDescription(description), Flag.optional)

const flags = {
  folder: Argument.String("folder").pipe(
    Argument.withDescription("The folder of the project, whose name is the name of the package"),
    Argument.optional
  ),
  template: choice("template", templates, "The bot. Default: echo"),
  source: choice("source", sources, "How updates arrive. Default: polling"),
  store: choice("store", stores, "Where the inbox and the state are stored. Default: sqlite"),
  yes: Flag.Boolean("yes").pipe(
    Flag.withAlias("y"),
    Flag.withDescription("Asks nothing, and uses the defaults"),
    Flag.withDefault(false)
  ),
  install: Flag.Boolean("install").pipe(
    Flag.withDescription("Installs the packages. Default: true"),
    Flag.withDefault(true)
  ),
  packages: Flag.String("packages").pipe(
    Flag.withMetavar("FOLDER"),
    Flag.withDescription("A folder with the packed packages of Colloquy, to use instead of those of the registry"),
    Flag.optional
  )
}

/** Asks a question. Ctrl-C leaves the cursor behind the question, so an empty line ends the question. */
const ask = <A>(prompt: Prompt.Prompt<A>) =>
  Effect.catchTag(Prompt.run(prompt), "QuitError", () =>
    Effect.andThen(Console.error(), new Cancelled({ message: "Nothing was created." }))
  )

// The prompt shows the `description` of the selected choice only, so the title contains the description.
const select = <K extends string>(message: string, descriptions: Readonly<Record<K, string>>) => {
  const width = Math.max(...keysOf(descriptions).map(({ length }) => length))
  const choices = keysOf(descriptions).map((value) => {
    return { title: `${value.padEnd(width)}  ${descriptions[value]}`, value }
  })
  return ask(Prompt.Select({ message, choices }))
}

/** Returns the folder and the name of the package in it. */
const checkFolder = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const target = path.resolve(folder)
  const name = path.basename(target)
  if (!isPackageName(name)) {
    return yield* failWith(`"${name}" cannot be the name of a package. Use ${validNameFor(name) ?? defaultFolder}.`)
  }
  const existing = yield* Effect.orElseSucceed(files.readDirectory(target), () => [])
  if (existing.some((file) => file !== ".git")) {
    return yield* failWith(`${target} is not empty. Choose another folder, or empty this one.`)
  }
  return { name, target }
})

/** Asks for the folder until its name is valid. The text begins empty, so that typing replaces the default. */
const askFolder = Effect.contextWith((context: Context.Context<Prompt.Environment>) => {
  const folderOf = (text: string) => (text.trim() === "" ? defaultFolder : text.trim())
  const message = `Name of the folder (${defaultFolder})`
  const validate = (text: string) =>
    checkFolder(folderOf(text)).pipe(
      Effect.mapBoth({ onFailure: ({ message }) => message, onSuccess: () => folderOf(text) }),
      Effect.provideContext(context)
    )
  return ask(Prompt.String({ message, validate }))
})

/** Returns how the manifest refers to a package: by its version, or by its packed file. */
const packedIn = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(folder)
  const names = yield* Effect.mapError(files.readDirectory(root), () => failWith(`--packages: cannot read ${root}.`))
  const found = (name: string) => names.find((file) => file.startsWith(`colloquy-${name}-`) && file.endsWith(".tgz"))
  const missing = ["cli", "core", "node", "testing"].filter((name) => found(name) === undefined)
  if (missing.length > 0) {
    return yield* failWith(
      `--packages: ${root} has no packed ${missing.map((name) => `@colloquy/${name}`).join(", ")}.`
    )
  }
  return (name: string) => `file:${path.join(root, found(name)!)}`
})

const write = Effect.fnUntraced(function* (
  target: string,
  choices: Choices,
  manager: Manager,
  colloquy: ((name: string) => string) | undefined
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const [name, content] of Object.entries(filesOf(choices, colloquy))) {
    const file = path.join(target, name)
    yield* files.makeDirectory(path.dirname(file), { recursive: true })
    const text =
      "text" in content
        ? content.text
        : fill(yield* files.readFileString(path.join(templateFolder, content.template)), choices, manager)
    yield* files.writeFileString(file, text)
  }
})

const installIn = Effect.fnUntraced(function* (target: string, manager: Manager) {
  const [program = "", ...args] = managers[manager].install.split(" ")
  const running = yield* ChildProcess.make(program, args, { cwd: target, stdout: "inherit", stderr: "inherit" })
  const code = yield* running.exitCode
  if (code !== 0) {
    return yield* failWith(
      `${managers[manager].install} failed with code ${code}. All files of the project are written. Solve the problem above, and run it again in ${target}.`
    )
  }
}, Effect.scoped)

const makeCommand = (manager: Manager, isInteractive: boolean) =>
  Command.make("create-colloquy", flags, (given) =>
    Effect.gen(function* () {
      const asks = isInteractive && !given.yes
      const folder = Option.isSome(given.folder) ? given.folder.value : asks ? yield* askFolder : defaultFolder
      const { name, target } = yield* checkFolder(folder)
      const colloquy = Option.isSome(given.packages) ? yield* packedIn(given.packages.value) : undefined
      const choose = <A extends string, E, R>(value: Option.Option<A>, ask: Effect.Effect<A, E, R>, standard: A) =>
        Option.isSome(value) ? Effect.succeed(value.value) : asks ? ask : Effect.succeed(standard)
      const template = yield* choose(given.template, select("Which bot?", templates), "echo")
      const source = yield* choose(given.source, select("How do updates arrive?", sources), "polling")
      const store = yield* choose(given.store, select("Where is the inbox stored?", stores), "sqlite")
      yield* write(target, { name, template, source, store }, manager, colloquy)
      if (given.install) yield* installIn(target, manager)
      yield* Console.log(
        [
          `Created ${name} in ${target}.`,
          "",
          `  cd ${folder}`,
          ...(given.install ? [] : [`  ${managers[manager].install}`]),
          `  ${managers[manager].start}      runs the bot on an emulator, without a token`,
          `  ${managers[manager].test}       checks the types and runs the tests`
        ].join("\n")
      )
    })
  ).pipe(
    Command.withDescription("Creates the project of a bot."),
    Command.withExamples([
      { command: "npm create colloquy my-bot", description: "Asks what the bot needs" },
      {
        command: "npm create colloquy my-bot -- --template conversation --source webhook --store postgres",
        description: "Asks nothing"
      }
    ])
  )

// Errors are printed in one line; help is printed on request.
const presenter: CliOutput.Presenter = {
  present: (event) => (event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event))
}

/** Runs the command. A failure prints one line on standard error. */
export const main = (args: ReadonlyArray<string>, manager: Manager, isInteractive: boolean) =>
  Command.runWith(makeCommand(manager, isInteractive), { version: "0.0.0" })(args).pipe(
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.provideService(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version] }),
    Effect.catchTag("ShowHelp", ({ errors }) =>
      errors.length === 0 ? Effect.void : Effect.fail(failWith(errors.map(({ message }) => message).join("; ")))
    ),
    Effect.catchTag("PlatformError", (error) => Effect.fail(failWith(error.message))),
    Effect.tapError((error) => Console.error(`create-colloquy: ${error.message}`))
  )
