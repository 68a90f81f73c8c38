import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { pack, type Packed } from "../scripts/internal/pack.ts"
import { root, run } from "../scripts/internal/workspace.ts"
import { firstLine, replyOn, start } from "./support/readme.ts"

const npm = { npm_config_prefer_offline: "true", npm_config_audit: "false", npm_config_loglevel: "error" }

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The objects that a command printed with `--json`. */
const objects = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)

describe("the packed commands, in an empty folder", () => {
  let folder = ""
  let packed: ReadonlyArray<Packed> = []

  const install = (into: string, ...names: ReadonlyArray<Packed["name"]>) => {
    mkdirSync(join(folder, into), { recursive: true })
    const tarballs = names.map((name) => packed.find((each) => each.name === name)!.tarball)
    const { ok, output } = run("npm", ["install", "--prefix", ".", ...tarballs], { cwd: join(folder, into), env: npm })
    assert.isTrue(ok, output)
  }

  /** Runs a command of `node_modules/.bin` without the settings of this process. */
  const inFolder =
    (of: string, env: Readonly<Record<string, string>> = {}) =>
    (command: string, ...args: ReadonlyArray<string>): Ran => {
      const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter)
      const cwd = join(folder, of)
      const { status, stderr, stdout } = spawnSync(join(cwd, "node_modules/.bin", command), args, {
        cwd,
        env: { PATH, HOME: folder, NO_COLOR: "1", ...env },
        encoding: "utf8",
        timeout: 240_000
      })
      return { code: status, out: stdout, err: stderr }
    }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "colloquy-commands-"))
    packed = pack(join(folder, "packed"))
    install("operator", "cli")
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("colloquy needs no other package, and prints its help and its version", () => {
    const operator = inFolder("operator")
    assert.deepStrictEqual(readdirSync(join(folder, "operator/node_modules/@colloquy")), ["cli"])
    const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as {
      readonly version: string
    }
    assert.deepStrictEqual(operator("colloquy", "--version"), { code: 0, out: `colloquy v${version}\n`, err: "" })
    const help = operator("colloquy", "--help")
    assert.deepStrictEqual([help.code, help.err], [0, ""])
    const [, table] = readFileSync(join(root, "docs/cli.md"), "utf8").split("## Commands")
    const commands = [...table!.split("###")[0]!.matchAll(/^\| `([a-z-]+)/gm)].map(([, name]) => name!)
    for (const name of new Set(commands)) assert.match(help.out, new RegExp(`^  ${name}  `, "m"))
  })

  it("colloquy prints completions that bash accepts, and completions of other shells", () => {
    const operator = inFolder("operator")
    for (const shell of ["bash", "zsh", "fish", "powershell"]) {
      const { code, err, out } = operator("colloquy", "--completions", shell)
      assert.deepStrictEqual([code, err], [0, ""], shell)
      assert.include(out, "rotate-secret", shell)
    }
    const script = `${operator("colloquy", "--completions", "bash").out}
      COMP_WORDS=(colloquy dead re) COMP_CWORD=2 COMP_LINE="colloquy dead re" COMP_POINT=16
      "$(complete -p colloquy | sed -E 's/.*-F ([^ ]+).*/\\1/')" colloquy re dead
      echo "\${COMPREPLY[@]}"`
    assert.strictEqual(spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim(), "replay")
  })

  it("colloquy names the missing settings where there is no bot", () => {
    const operator = inFolder("operator")
    const stats = operator("colloquy", "inbox", "stats", "--json")
    assert.deepStrictEqual([stats.code, stats.out], [1, ""])
    assert.match(
      String(objects(stats.err)[0]!["error"]),
      /^There is no SQLite file .*colloquy\.sqlite\. Run the command/
    )
    const doctor = operator("colloquy", "doctor", "--json")
    assert.strictEqual(doctor.code, 1)
    const problems = objects(doctor.out).filter(({ status }) => status === "problem")
    assert.deepStrictEqual(
      problems.map(({ detail }) => detail),
      ["BOT_TOKEN is missing", "BOT_BASE_URL is missing"]
    )
    assert.deepStrictEqual(objects(doctor.err), [{ error: "The checks found 2 problems." }])
    const unknown = operator("colloquy", "nonsense")
    assert.deepStrictEqual(unknown, {
      code: 2,
      out: "",
      err: 'colloquy: Unknown subcommand "nonsense" for "colloquy"\n'
    })
  })

  it("colloquy works while a bot runs, which create-colloquy has created", async (test) => {
    install("tool", "create")
    const created = inFolder("tool")("create-colloquy", "../bot", "--no-install", "--packages", "../packed")
    assert.deepStrictEqual([created.code, created.err], [0, ""])
    install("bot", "cli")
    const bin = join(folder, "bot/node_modules/.bin")
    const emulator = start(join(bin, "colloquy-emulator"), ["--json"], join(folder, "bot"), test.onTestFinished)
    const { token, url } = JSON.parse(await firstLine(emulator)) as { readonly token: string; readonly url: string }
    const settings = { BOT_BASE_URL: url, BOT_TOKEN: token }
    const env = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
    const bot = start("env", [...env, "node", "src/main.ts"], join(folder, "bot"), test.onTestFinished)
    assert.strictEqual(await replyOn(url, "Good morning"), "You said: Good morning", bot.output())

    const inBot = inFolder("bot", settings)
    const colloquy = (...args: ReadonlyArray<string>) => {
      const { code, err, out } = inBot("colloquy", ...args, "--json")
      assert.strictEqual(code, 0, `${args.join(" ")}: ${err}`)
      return objects(out)
    }
    const checks = colloquy("doctor")
    assert.deepStrictEqual(
      checks.filter(({ status }) => status !== "ok" && status !== "skipped"),
      []
    )
    const versions = String(checks.find(({ name }) => name === "versions")!["detail"])
    assert.match(versions, /^Node [\d.]+, @colloquy\/core [\d.]+, @colloquy\/node [\d.]+, effect [\d.]+$/)
    assert.deepStrictEqual(colloquy("inbox", "stats"), [{ queued: 0, dead_letters: 0, paused: false }])
    for (const list of [
      ["inbox", "list", "--kind", "message_created"],
      ["dead", "list", "--since", "2 hours", "--cause", "refused"],
      ["timers", "list"],
      ["subscriptions", "list"]
    ]) {
      assert.deepStrictEqual(colloquy(...list), [], list.join(" "))
    }
    assert.deepStrictEqual(colloquy("dead", "replay", "--all"), [{ replayed: 0 }])
    const board = start(
      "env",
      [...env, join(bin, "colloquy"), "board", "--json"],
      join(folder, "bot"),
      test.onTestFinished
    )
    const [address, boardToken] = String(JSON.parse(await firstLine(board)).url).split("#token=") as [string, string]
    for (const file of ["", "page.js", "page.css"]) assert.strictEqual((await fetch(address + file)).status, 200, file)
    const headers = { "x-colloquy-token": boardToken }
    const status = (await (await fetch(`${address}api/status`, { headers })).json()) as { readonly queued: number }
    assert.strictEqual(status.queued, 0)
    const [set] = colloquy("state", "set", "counter", "bot", "3")
    assert.deepStrictEqual([set!["name"], set!["value"]], ["counter", 3])
    assert.strictEqual(colloquy("state", "get", "counter", "bot")[0]!["value"], 3)
    assert.lengthOf(colloquy("subscriptions", "set", "https://bot.example/updates", "--no-secret"), 1)
    assert.strictEqual(colloquy("subscriptions", "list")[0]!["url"], "https://bot.example/updates")
    assert.lengthOf(colloquy("subscriptions", "remove", "https://bot.example/updates", "--yes"), 1)
    assert.isNull(bot.child.exitCode, bot.output())
    const missing = inBot("colloquy", "dead", "show", "17", "--json")
    assert.deepStrictEqual([missing.code, missing.out], [1, ""])
    const redis = inBot("colloquy", "inbox", "stats", "--store", "redis", "--json")
    assert.deepStrictEqual([redis.code, redis.out], [2, ""])
    assert.include(String(objects(redis.err)[0]!["error"]), "REDIS_URL")
  })

  it("colloquy-emulator prints its help, and names the problem in one line", () => {
    install("emulator", "core", "testing")
    const emulator = inFolder("emulator")
    const help = emulator("colloquy-emulator", "--help")
    assert.deepStrictEqual([help.code, help.err], [0, ""])
    assert.include(help.out, "--lenient")
    const wrong = emulator("colloquy-emulator", "--prot", "8080")
    assert.strictEqual(wrong.code, 2)
    assert.match(wrong.err, /^colloquy-emulator: .*--prot.*\n$/)
  })
})
