import { availableParallelism } from "node:os"
import { assert, describe, it } from "vitest"
import { inParallel, start } from "../scripts/internal/workspace.ts"

describe("inParallel", () => {
  it("runs several at the same time, at most half as many as there are cores, and returns results in order", async () => {
    let running = 0
    let most = 0
    const ends: Array<() => void> = []
    const results = inParallel([1, 2, 3, 4, 5, 6, 7], async (item) => {
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => ends.push(resolve))
      running--
      return item * 10
    })
    while (ends.length > 0) {
      ends.pop()!()
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepStrictEqual(await results, [10, 20, 30, 40, 50, 60, 70])
    assert.strictEqual(most, Math.min(7, Math.max(1, Math.floor(availableParallelism() / 2))))
  })
})

describe("start", () => {
  const node = (program: string) => start(process.execPath, ["--eval", program])

  it("returns the output of a program, and whether it succeeded", async () => {
    assert.deepStrictEqual(await node("console.log('out'); console.error('err')"), { ok: true, output: "out\nerr\n" })
    assert.deepStrictEqual(await node("console.log('bad'); process.exitCode = 3"), { ok: false, output: "bad\n" })
  })

  it("gives the program an empty standard input", async () => {
    const read = await node("process.stdin.on('data', () => {}).on('end', () => console.log('end'))")
    assert.deepStrictEqual(read, { ok: true, output: "end\n" })
  })

  it("reports a program that cannot be started", async () => {
    const { ok, output } = await start("no-such-program", [])
    assert.isFalse(ok)
    assert.include(output, "ENOENT")
  })
})
