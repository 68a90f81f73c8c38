import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { stripVTControlCharacters } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { sources, stores, templates } from "../packages/create/src/choices.ts"
import { pack } from "../scripts/internal/pack.ts"
import { run } from "../scripts/internal/workspace.ts"
import { replyOn, start } from "./support/readme.ts"

const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter)

const environment = {
  PATH,
  npm_config_prefer_offline: "true",
  npm_config_audit: "false",
  npm_config_loglevel: "error"
}

describe("create-colloquy, from its packed file", () => {
  let folder = ""

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
    const created = pack(join(folder, "packed")).find(({ name }) => name === "create")
    mkdirSync(join(folder, "tool"))
    demand(run("npm", ["install", "--prefix", ".", created!.tarball], { cwd: join(folder, "tool"), env: environment }))
  }, 240_000)

  afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000)

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
        it(`creates a project whose test passes: ${template}, ${source}, ${store}`, { timeout: 240_000 }, () => {
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

  const subscriptionsOf = async (url: string): Promise<number> => {
    const response = await fetch(`${url}/subscriptions`, { headers: { authorization: "emulator-token" } })
    return ((await response.json()) as { readonly subscriptions: ReadonlyArray<unknown> }).subscriptions.length
  }

  it("creates a project whose bot runs on the emulator, without a token", { timeout: 240_000 }, async (test) => {
    for (const name of ["echo-polling-postgres", "echo-webhook-sqlite"]) {
      const running = start("npm", ["start"], join(folder, name), test.onTestFinished)
      const url = await new Promise<string>((resolve, reject) => {
        running.child.stderr!.on("data", () => {
          const [, found] = /The platform is at (\S+)/.exec(running.output()) ?? []
          if (found !== undefined) resolve(found)
        })
        running.child.once("exit", () => reject(new Error(running.output())))
      })
      // The platform sends a webhook only what happens after its subscription.
      while (name.includes("webhook") && (await subscriptionsOf(url)) === 0) await sleep(100)
      const reply = await replyOn(url, "Good morning")
      assert.strictEqual(reply, "You said: Good morning", running.output())
    }
  })

  it("rejects a folder that is not empty, an invalid name, and an unknown flag", { timeout: 60_000 }, () => {
    const before = readdirSync(join(folder, "echo-polling-sqlite"))
    for (const [name, flags, problem] of [
      ["echo-polling-sqlite", [], "is not empty. Choose another folder"],
      ["My Bot", [], '"My Bot" is not a name of a package'],
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
      "has no packed @colloquy/core, @colloquy/node, @colloquy/testing"
    )
    assert.deepStrictEqual(readdirSync(join(folder, "echo-polling-sqlite")), before)
    assert.isFalse(existsSync(join(folder, "other")))
  })
})
