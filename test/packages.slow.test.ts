import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { basename, delimiter, dirname, join, matchesGlob } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { pack, type Packed } from "../scripts/internal/pack.ts"
import { otherRuntimes } from "../scripts/internal/otherRuntimes.ts"
import { fencesOf, firstLine, replyOn, start } from "./support/readme.ts"
import { files, filesIn, publicPackages, root, run } from "../scripts/internal/workspace.ts"

const exported = publicPackages.filter((name) => existsSync(join(root, "packages", name, "src/index.ts")))

const program = `
import { type ApiError, BotApi, Chat, Messages, RateLimiter, RetryPolicy } from "@colloquy/core"
import * as Direct from "@colloquy/core/endpoints/Messages"
import { NodeBotHttpClient } from "@colloquy/node"
${exported.includes("testing") ? 'import * as Testing from "@colloquy/testing"' : "const Testing = { none: true }"}
import { Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

const platform = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request, url) =>
    Effect.succeed(
      HttpClientResponse.fromWeb(request, Response.json({ code: "chat.not.found", message: url.pathname }, { status: 404 }))
    )
  )
)

const bot = BotApi.layer({ token: Redacted.make("token"), baseUrl: "https://platform.example" }).pipe(
  Layer.provide([platform, RateLimiter.layerMemory()])
)

const send = Messages.send({ chat_id: Chat.ChatId.make(4242), text: "Hello" })

export const pinned: Effect.Effect<
  unknown,
  ApiError.Forbidden | ApiError.NotFound | ApiError.AttachmentNotReady | ApiError.Common,
  BotApi.BotApi
> = send

export const layers = [NodeBotHttpClient.layer({ proxy: "http://proxy.example:3128" })]

const outcome = await Effect.runPromise(
  send.pipe(
    Effect.as("sent"),
    Effect.catchTag("NotFound", (error) => Effect.succeed(\`\${error._tag} \${error.status} \${error.detail}\`)),
    Effect.provide(bot),
    Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none)
  )
)

console.log(outcome, Direct.send === Messages.send, Object.keys(Testing).length > 0)
`

const settings = {
  compilerOptions: {
    target: "ES2024",
    lib: ["ESNext"],
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    types: ["node"],
    outDir: "out"
  },
  include: ["program.ts"]
}

const version = (name: string): string =>
  (JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")) as { readonly version: string })
    .version

describe("the packed packages in an empty folder", () => {
  let folder = ""
  let packed: ReadonlyArray<Packed> = []

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "colloquy-consumer-"))
    packed = pack(join(folder, "packed"))
    mkdirSync(join(folder, "app"))
    // Optional peers: the types of the connections to Redis and PostgreSQL refer to the types of their packages.
    const peers = ["redis", "@effect/sql-pg"]
    const dependencies = ["effect", "typescript", "@types/node", ...peers].map((name) => `${name}@${version(name)}`)
    writeFileSync(join(folder, "app/package.json"), JSON.stringify({ name: "app", private: true, type: "module" }))
    writeFileSync(join(folder, "app/program.ts"), program)
    writeFileSync(join(folder, "app/tsconfig.json"), JSON.stringify(settings))
    const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]
    const installed = run("npm", ["install", ...quiet, ...packed.map(({ tarball }) => tarball), ...dependencies], {
      cwd: join(folder, "app")
    })
    assert.isTrue(installed.ok, installed.output)
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const inApp = (...path: ReadonlyArray<string>) => join(folder, "app", ...path)

  const contents = (...names: ReadonlyArray<string>) =>
    filesIn(inApp("node_modules/@colloquy"), ...names.map((name) => `${name}/**`))

  it("provide valid type declarations to a strict program", () => {
    const { output } = run(inApp("node_modules/.bin/tsc"), ["-p", ".", "--pretty", "false"], { cwd: inApp() })
    const errors = output.split("\n").filter((line) => line.includes("error TS"))
    const elsewhere = /^node_modules\/(?!@colloquy\/)/
    assert.deepStrictEqual(
      errors.filter((line) => !elsewhere.test(line)),
      []
    )
    assert.isTrue(existsSync(inApp("out/program.js")), output)
  })

  it.each(Object.entries({ node: [process.execPath], ...otherRuntimes }))("run the program on %s", (_, command) => {
    const [runtime, ...args] = command
    const { ok, output } = run(runtime, [...args, "out/program.js"], { cwd: inApp() })
    assert.strictEqual(output.trim(), "NotFound 404 /messages true true")
    assert.isTrue(ok)
  })

  it("contain a command that serves its tools to a client of MCP", async () => {
    const client = new Client({ name: "test", version: "1.0.0" })
    const problems: Array<Error> = []
    Object.assign(client, { onerror: (error: Error) => void problems.push(error) })
    const args = [inApp("node_modules/@colloquy/testing/dist/bin.js"), "--mcp"]
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: inApp(), stderr: "pipe" }))
    try {
      const { tools } = await client.listTools()
      assert.include(
        tools.map(({ name }) => name),
        "wait_for_reply"
      )
      const { content, isError } = await client.callTool({ name: "create_person", arguments: { first_name: "Ann" } })
      assert.isNotTrue(isError)
      assert.include(JSON.stringify(content), "Ann")
      assert.deepStrictEqual(problems, [])
    } finally {
      await client.close()
    }
  })

  // A bot in another language has nothing but the packed packages and its own files.
  for (const [language, program, args] of [
    ["Python", "python3", ["-m", "unittest"]],
    ["Go", "go", ["test", "./..."]]
  ] as const) {
    const isMissing = !run(program, [language === "Go" ? "version" : "--version"]).ok
    if (isMissing) console.log(`The test of the bot in ${language} is skipped: there is no ${program}.`)

    it.skipIf(isMissing && process.env["LANGUAGE_TESTS"] !== "required")(
      `test a bot in ${language}`,

      () => {
        const bot = inApp(language.toLowerCase())
        cpSync(join(root, "examples/ci", language.toLowerCase()), bot, { recursive: true })
        const EMULATOR_COMMAND = inApp("node_modules/.bin/colloquy-emulator")
        const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter)
        const { ok, output } = run(program, args, { cwd: bot, env: { PATH, EMULATOR_COMMAND } })
        assert.isTrue(ok, output)
      }
    )
  }

  it("build and start the container of the emulator", async ({ onTestFinished }) => {
    const file = readFileSync(join(root, "containers/emulator/Containerfile"), "utf8")
    const instruction = (name: string) => new RegExp(`^${name} (.+)$`, "m").exec(file)![1]
    const image = join(folder, "image")
    mkdirSync(image)
    const copied = instruction("COPY").split(" ").slice(0, -1)
    for (const { tarball } of packed) {
      if (copied.some((pattern) => matchesGlob(basename(tarball), pattern)))
        cpSync(tarball, join(image, basename(tarball)))
    }
    const built = run("sh", ["-c", instruction("RUN")], { cwd: image, env: { npm_config_prefer_offline: "true" } })
    assert.isTrue(built.ok, built.output)
    const [program, ...args] = JSON.parse(instruction("ENTRYPOINT")) as ReadonlyArray<string>
    const ports = instruction("EXPOSE").split(" ")
    assert.deepStrictEqual(args.splice(args.indexOf("--port")), [
      "--port",
      ports[0],
      "--upload-ports",
      ports.slice(1).join(",")
    ])
    const emulator = start(program, [...args, "--json"], image, onTestFinished)
    const { url } = JSON.parse(await firstLine(emulator)) as { readonly url: string }
    const [, check] = instruction("HEALTHCHECK").split(" CMD ")
    const [node, ...expression] = JSON.parse(
      check.replace("127.0.0.1:8080", new URL(url).host)
    ) as ReadonlyArray<string>
    assert.isTrue(run(node, expression).ok)
  })

  it("contain their API reference", () => {
    for (const [name, module] of [
      ["core", "Messages"],
      ["node", "NodeBot"],
      ["testing", "Emulator"],
      ["worker", "DurableObjectBot"]
    ]) {
      const folder = inApp("node_modules/@colloquy", name, "dist/docs")
      assert.include(readFileSync(join(folder, "README.md"), "utf8"), `[${module}](${module}.md)`)
      assert.include(readFileSync(join(folder, `${module}.md`), "utf8"), `# ${module}`)
    }
  })

  it("do not export internal modules", () => {
    const imported = publicPackages.map((name) => {
      const inner = files(`packages/${name}/src/*/internal/**/*.ts`)[0].path.replace(/^.*\/src\/(.+)\.ts$/, "$1")
      const script = `import("@colloquy/${name}/${inner}").then(() => "imported", (e) => e.code).then(console.log)`
      return run(process.execPath, ["--input-type=module", "-e", script], { cwd: inApp() }).output.trim()
    })
    assert.deepStrictEqual(imported, [
      "ERR_PACKAGE_PATH_NOT_EXPORTED",
      "ERR_PACKAGE_PATH_NOT_EXPORTED",
      "ERR_PACKAGE_PATH_NOT_EXPORTED",
      "ERR_PACKAGE_PATH_NOT_EXPORTED"
    ])
  })

  it("contain a licence, a README, sources, code and types, and no tests", () => {
    for (const name of exported) {
      const paths = contents(name).map(({ path }) => path)
      for (const file of ["LICENSE", "README.md", "package.json", "src/index.ts", "dist/index.js", "dist/index.d.ts"]) {
        assert.include(paths, `${name}/${file}`)
      }
      assert.deepStrictEqual(
        paths.filter((path) => /(^|\/)(test|tests|__tests__)\/|\.test\.|\.spec\.|tsbuildinfo/.test(path)),
        []
      )
    }
  })

  it("contain the source of every compiled module, and the compiled module of every source", () => {
    const paths = contents(...publicPackages).map(({ path }) => path)
    const modules = (pattern: RegExp) => paths.flatMap((path) => pattern.exec(path)?.slice(1).join("/") ?? []).sort()
    const sources = modules(/^(\w+)\/src\/(.+)(?<!\.d)\.ts$/)
    assert.isNotEmpty(sources)
    // The pages of the emulator and of operators, and the chunks of the command, are bundled.
    assert.deepStrictEqual(
      modules(/^(\w+)\/dist\/(?!ui\/|board\/|emulator\/internal\/command\/chunks\/)(.+)\.js$/),
      sources
    )
    assert.deepStrictEqual(modules(/^(\w+)\/dist\/(.+)\.d\.ts$/), sources)
  })

  it("contain no path of the machine on which they were packed", () => {
    const machine = [root, homedir(), tmpdir()].filter((path) => path.length > 1)
    const all = contents(...publicPackages)
    assert.isNotEmpty(all.filter(({ path }) => path.endsWith(".map")))
    const offending = all.filter(({ text }) => machine.some((path) => text.includes(`${path}/`)))
    assert.deepStrictEqual(
      offending.map(({ path }) => path),
      []
    )
  })
})

describe("the steps of the README for a new project", () => {
  let folder = ""

  const inShell = (script: string, cwd: string) => {
    const env = { npm_config_prefer_offline: "true", npm_config_audit: "false", npm_config_loglevel: "error" }
    const { ok, output } = run("bash", ["-euo", "pipefail", "-c", script], { cwd, env })
    assert.isTrue(ok, output)
    return stripVTControlCharacters(output)
  }

  const [packing, creating, settings, checking, ...more] = fencesOf("Setup", "docs/project.md")
  const [bot] = fencesOf("A bot")
  const [test] = fencesOf("The test of the bot")

  // The folder beside the repository is a new one for each run.
  const inFolder = ({ text }: { readonly text: string }) => text.replaceAll("../my-bot", folder)

  beforeAll(() => {
    folder = join(mkdtempSync(join(tmpdir(), "colloquy-project-")), "my-bot")
    inShell(inFolder(packing), root)
    inShell(inFolder(creating), root)
    mkdirSync(join(folder, "src"))
    mkdirSync(join(folder, "test"))
    writeFileSync(join(folder, "tsconfig.json"), settings.text)
    writeFileSync(join(folder, "src/bot.ts"), bot.text)
    writeFileSync(join(folder, "test/bot.test.ts"), test.text)
  }, 300_000)

  afterAll(() => rmSync(join(folder, ".."), { recursive: true, force: true }))

  it("have a command each", () => {
    assert.deepStrictEqual(
      [packing, creating, settings, checking, ...more, bot, test].map(({ language }) => language),
      ["sh", "sh", "json", "sh", "ts", "ts"]
    )
  })

  it("check the types, run the test and start the bot", async ({ onTestFinished }) => {
    const [check, command, ...others] = checking.text.trim().split("\n")
    assert.deepStrictEqual(others, [])
    assert.match(inShell(check, folder), /Tests\s+1 passed/)

    const emulator = start("npx", ["--no-install", "colloquy-emulator", "--json"], folder, onTestFinished)
    const { page, token, url } = JSON.parse(await firstLine(emulator)) as Readonly<Record<string, string>>
    for (const path of ["", "/page.js", "/page.css", "/icon.svg"]) {
      assert.strictEqual((await fetch(page + path)).status, 200, `${page}${path}`)
    }
    const filled = command.replace("BOT_TOKEN=…", `BOT_TOKEN=${token}`).replace("https://…", url)
    assert.notInclude(filled, "…")
    const running = start("bash", ["-c", filled], folder, onTestFinished)
    assert.strictEqual(await replyOn(url, "Good morning"), "You said: Good morning", running.output())
  })

  it("contain the versions of the packages that some stores require", () => {
    const manifest = JSON.parse(readFileSync(join(root, "packages/node/package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>
      readonly devDependencies: Readonly<Record<string, string>>
    }
    const known = { ...manifest.devDependencies, ...manifest.dependencies }
    const required = ["@effect/sql-pg", "@effect/platform-node"].map((name) => `${name}@${known[name]}`)
    for (const page of ["docs/project.md", "packages/node/README.md"]) {
      const text = readFileSync(join(root, page), "utf8")
      for (const name of required) assert.include(text, `\`${name}\``, page)
    }
    inShell(`npm install ${required.join(" ")}`, folder)
  })
})
