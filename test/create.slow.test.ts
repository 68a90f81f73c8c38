import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { stripVTControlCharacters } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { managers, sources, stores, templates } from "../packages/create/src/choices.ts"
import { pack } from "../scripts/internal/pack.ts"
import { programs, root, run } from "../scripts/internal/workspace.ts"
import { replyOn, start } from "./support/readme.ts"

const PATH = [dirname(process.execPath), ...programs, process.env["PATH"]].join(delimiter)

const environment = {
  PATH,
  // The manager that runs the tests.
  npm_config_user_agent: undefined,
  npm_config_prefer_offline: "true",
  npm_config_audit: "false",
  npm_config_loglevel: "error"
}

describe("create-colloquy, from its packed file", () => {
  let folder = ""
  let tarball = ""

  const createWith = (packages: string, name: string, ...flags: ReadonlyArray<string>) =>
    run(
      "npx",
      ["--no-install", "create-colloquy", join(folder, name), "--packages", join(folder, packages), ...flags],
      { cwd: join(folder, "tool"), env: environment }
    )

  const create = (name: string, ...flags: ReadonlyArray<string>) => createWith("packed", name, ...flags)

  const demand = ({ ok, output }: { readonly ok: boolean; readonly output: string }): string => {
    assert.isTrue(ok, output)
    return output
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "colloquy-create-"))
    tarball = pack(join(folder, "packed")).find(({ name }) => name === "create")!.tarball
    mkdirSync(join(folder, "tool"))
    demand(run("npm", ["install", "--prefix", ".", tarball], { cwd: join(folder, "tool"), env: environment }))
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  // Projects with the same packages share their node_modules, so that each set is installed once.
  const installed = new Map<string, string>()

  const install = (project: string) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as Record<
      string,
      object
    >
    const key = JSON.stringify([dependencies, devDependencies])
    const existing = installed.get(key)
    if (existing === undefined) {
      demand(run("npm", ["install"], { cwd: project, env: environment }))
      rmSync(join(project, "node_modules"), { recursive: true })
      demand(run("npm", ["ci"], { cwd: project, env: environment }))
      installed.set(key, project)
    } else {
      cpSync(join(existing, "package-lock.json"), join(project, "package-lock.json"))
      symlinkSync(join(existing, "node_modules"), join(project, "node_modules"))
    }
  }

  for (const template of Object.keys(templates)) {
    for (const source of Object.keys(sources)) {
      for (const store of Object.keys(stores)) {
        it(`creates a project whose test passes: ${template}, ${source}, ${store}`, () => {
          const name = `${template}-${source}-${store}`
          const flags = ["--template", template, "--source", source, "--store", store, "--no-install"]
          assert.include(demand(create(name, ...flags)), `Created ${name}`)
          const project = join(folder, name)
          install(project)
          const output = demand(run("npm", ["test"], { cwd: project, env: environment }))
          assert.match(stripVTControlCharacters(output), /Tests\s+\d+ passed/)
        })
      }
    }
  }

  const workflowOf = (project: string) => readFileSync(join(project, ".github/workflows/test.yml"), "utf8")

  // `npm create colloquy`, `pnpm create colloquy` and `bun create colloquy` run the command of the package in this way.
  const runsCommand = {
    pnpm: (tarball: string) => ["pnpm", "dlx", tarball],
    bun: (tarball: string) => {
      demand(run("bun", ["add", tarball], { cwd: join(folder, "bun"), env: environment }))
      return ["bunx", "--no-install", "create-colloquy"]
    }
  }

  for (const manager of ["pnpm", "bun"] as const) {
    it(`creates a project for ${manager}, whose test passes and whose bot answers`, async (test) => {
      const { frozen, lock, start: startCommand, test: testCommand } = managers[manager]
      const tool = join(folder, manager)
      mkdirSync(tool)
      writeFileSync(join(tool, "package.json"), "{}")
      const execute = (command: string, cwd: string) => {
        const [program, ...args] = command.split(" ")
        return demand(run(program, args, { cwd, env: environment }))
      }
      const command = [...runsCommand[manager](tarball), `${manager}-bot`, "--store", "postgres"]
      const output = execute([...command, "--packages", join(folder, "packed")].join(" "), tool)
      const project = join(tool, `${manager}-bot`)
      assert.include(output, `Created ${manager}-bot in ${project}`)
      assert.include(output, startCommand)
      assert.isTrue(existsSync(join(project, lock)))
      assert.include(workflowOf(project), `npm install --global ${manager}\n`)
      assert.match(stripVTControlCharacters(execute(testCommand, project)), /Tests\s+\d+ passed/)
      rmSync(join(project, "node_modules"), { recursive: true })
      execute(frozen, project)
      const [program, ...args] = startCommand.split(" ")
      const running = start(program, args, project, test.onTestFinished)
      assert.strictEqual(await replyOn(await platformOf(running), "Good morning"), "You said: Good morning")
    })
  }

  const platformOf = ({ child, output }: ReturnType<typeof start>) =>
    new Promise<string>((resolve, reject) => {
      child.stderr!.on("data", () => {
        const [, found] = /^(?:The platform is at|Open) (http:\/\/[^/\s]+)/m.exec(output()) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once("exit", () => reject(new Error(output())))
    })

  const subscriptionsOf = async (url: string): Promise<number> => {
    const response = await fetch(`${url}/subscriptions`, { headers: { authorization: "emulator-token" } })
    return ((await response.json()) as { readonly subscriptions: ReadonlyArray<unknown> }).subscriptions.length
  }

  it("creates a project whose bot runs on the emulator, without a token", async (test) => {
    for (const name of ["echo-polling-postgres", "echo-webhook-sqlite"]) {
      const running = start("npm", ["start"], join(folder, name), test.onTestFinished)
      const url = await platformOf(running)
      // The platform sends a webhook only what happens after its subscription.
      while (name.includes("webhook") && (await subscriptionsOf(url)) === 0) await sleep(100)
      const reply = await replyOn(url, "Good morning")
      assert.strictEqual(reply, "You said: Good morning", running.output())
      const [first, second, ...log] = running
        .output()
        .split("\n")
        .filter((line) => !/^(?:> .*)?$/.test(line))
      assert.deepStrictEqual(
        [first, second],
        [`Open ${url}/_emulator/ui to write to the bot.`, "Edit src/bot.ts to change the bot."]
      )
      for (const line of log) assert.match(line, /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO /)
    }
  })

  it("creates a project whose build is one file, which runs without the packages", async (test) => {
    for (const name of ["echo-polling-postgres", "echo-webhook-sqlite"]) {
      demand(run("npm", ["run", "build"], { cwd: join(folder, name), env: environment }))
      const built = join(folder, name, "dist")
      assert.deepStrictEqual(readdirSync(built).sort(), ["main.mjs", "main.mjs.map"])
      const { sources } = JSON.parse(readFileSync(join(built, "main.mjs.map"), "utf8")) as Record<string, unknown>
      assert.include(sources, "../src/bot.ts")
      const alone = mkdtempSync(join(folder, "alone-"))
      cpSync(join(built, "main.mjs"), join(alone, "main.mjs"))
      // The container has the command of the operator beside the bundle.
      cpSync(join(folder, name, "node_modules/@colloquy/cli"), join(alone, "cli"), { recursive: true })
      demand(run(process.execPath, [join(alone, "cli/dist/bin.js"), "--version"], { cwd: alone, env: environment }))
      const emulator = join(folder, name, "node_modules/.bin/colloquy-emulator")
      const running = start(emulator, ["--lenient", "--", process.execPath, "main.mjs"], alone, test.onTestFinished)
      const url = await platformOf(running)
      while (name.includes("webhook") && (await subscriptionsOf(url)) === 0) await sleep(100)
      assert.strictEqual(await replyOn(url, "Good morning"), "You said: Good morning", running.output())
    }
  })

  it("creates a project for npm whose workflow installs no package manager", () =>
    assert.notInclude(workflowOf(join(folder, "echo-polling-sqlite")), "--global"))

  it("creates a project whose scripts require the Node that the packages require", () => {
    const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>
    const { engines } = read(join(root, "packages/node/package.json"))
    const project = read(join(folder, "echo-polling-sqlite/package.json"))
    assert.deepStrictEqual(project["engines"], engines)
    assert.deepStrictEqual(project["devEngines"], {
      runtime: { name: "node", version: (engines as { readonly node: string }).node, onFail: "error" }
    })
  })

  it("requires a new Node before it writes a file", () => {
    const old = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'22.18.0'})"
    const args = ["--import", old, join(folder, "tool/node_modules/create-colloquy/dist/bin.js"), join(folder, "old")]
    const { ok, output } = run("node", args, { cwd: folder, env: environment })
    assert.isFalse(ok)
    assert.strictEqual(
      output.trim(),
      "create-colloquy: Node 22.19 or newer is needed, and this is Node 22.18.0. Nothing was created."
    )
    assert.isFalse(existsSync(join(folder, "old")))
  })

  it("rejects a folder that is not empty, an invalid name, and an unknown flag", () => {
    const before = readdirSync(join(folder, "echo-polling-sqlite"))
    for (const [name, flags, problem] of [
      ["echo-polling-sqlite", [], "is not empty. Choose another folder"],
      ["My Bot", [], '"My Bot" cannot be the name of a package. Use my-bot.'],
      ["other", ["--template", "chess"], 'Invalid value for flag --template: "chess"'],
      ["other", ["--colour"], "--colour"]
    ] as const) {
      const { ok, output } = create(name, ...flags)
      assert.isFalse(ok)
      assert.include(output, `create-colloquy: `)
      assert.include(output, problem)
      assert.notInclude(output, "    at ")
    }
    assert.include(
      createWith("tool", "other").output,
      "has no packed @colloquy/cli, @colloquy/core, @colloquy/node, @colloquy/testing"
    )
    assert.deepStrictEqual(readdirSync(join(folder, "echo-polling-sqlite")), before)
    assert.isFalse(existsSync(join(folder, "other")))
  })
})
