import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

const { engines, version: own } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly engines: { readonly node: string }
  readonly version: string
}

/** Runs the command in a process that reports another version of Node. */
const runAs = (version: string) => {
  const versions = `{ value: { ...process.versions, node: ${JSON.stringify(version)} } }`
  const pretend = `data:text/javascript,Object.defineProperty(process, "versions", ${versions})`
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=source", "--import", pretend, bin, "--version"],
    { encoding: "utf8" }
  )
  return { status, stderr, stdout }
}

describe("colloquy-emulator", () => {
  it.each(["18.20.8", "20.19.5", "22.18.0"])(
    "prints on Node %s in one line that it requires a newer version",
    (version) => {
      const { status, stderr, stdout } = runAs(version)
      assert.deepStrictEqual([status, stdout], [2, ""])
      assert.match(stderr, /^colloquy-emulator: Node (\d+\.\d+) or newer is needed, and this is Node [^\n]*\n$/)
      assert.include(stderr, `this is Node ${version}.`)
      assert.strictEqual(`>=${/Node (\d+\.\d+) or newer/.exec(stderr)?.[1]}.0`, engines.node)
    }
  )

  it.each(["22.19.0", "24.0.0"])("starts on Node %s", (version) => {
    const { status, stderr, stdout } = runAs(version)
    assert.deepStrictEqual([status, stderr], [0, ""])
    assert.include(stdout, own)
  })
})
