import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Finding, run, secret, type Target, token } from "./fuzz/target.ts"
import { targets } from "./fuzz/targets.ts"
import { fuzz, lastInput, type Report } from "./fuzz/worker.ts"

const seed = "1"

describe.each((await targets()).map((target) => [target.name, target] as const))("%s", (_, target) => {
  it.live("ends in a value or a typed error for mutated inputs", () => run(target, { seed, runs: 25 }))
})

describe("the fuzzer", () => {
  it("divides the rounds of a seed among its threads, until they had all inputs together", async () => {
    const total = new SharedArrayBuffer(4)
    const thread = async (firstRound: number) => {
      const reports: Array<Report> = []
      const memory = new SharedArrayBuffer(2 ** 23)
      await fuzz(
        {
          until: Infinity,
          inputs: 800,
          seed: "s",
          firstRound,
          roundStep: 2,
          prefix: "payloads of deep links",
          replay: undefined,
          memory,
          total
        },
        (report) => reports.push(report)
      )
      const done = reports.at(-1)!
      assert.strictEqual(done._tag, "Done")
      const counts = done._tag === "Done" ? Object.values(done.counts) : []
      assert.strictEqual(lastInput(memory).count(), counts[0])
      assert.isAbove(lastInput(memory).read().length, 0)
      return { count: counts[0], seeds: reports.flatMap((report) => (report._tag === "Started" ? [report.seed] : [])) }
    }
    const [one, other] = await Promise.all([thread(0), thread(1)])
    assert.strictEqual(one.count + other.count, new Uint32Array(total)[0])
    assert.isAtLeast(one.count + other.count, 800)
    assert.deepStrictEqual([one.seeds[0], other.seeds[0]], ["s/0", "s/1"])
    assert.lengthOf(new Set([...one.seeds, ...other.seeds]), one.seeds.length + other.seeds.length)
  })

  const findingOf = (take: (input: string) => Effect.Effect<ReadonlyArray<string>, unknown>, maxMillis = 1000) => {
    const target: Target = {
      name: "sample",
      input: Arbitrary.schema(Schema.String),
      maxMillis,
      start: Effect.succeed({ take })
    }
    return Effect.flip(run(target, { seed, runs: 200 })) as Effect.Effect<Finding>
  }

  it.live("reports a defect with a shrunk input and the command that repeats it", () =>
    Effect.gen(function* () {
      const { input, message, problem } = yield* findingOf((input) =>
        Effect.sync(() => (input.length > 3 ? assert.fail("too long") : []))
      )
      assert.lengthOf(input!, 4)
      assert.include(problem, "too long")
      assert.include(message, 'npm run fuzz -- --target "sample" --replay \'')
    })
  )

  it.live.each([token, secret])("finds a secret in a result, an error and a log", (hidden) =>
    Effect.gen(function* () {
      for (const take of [
        () => Effect.succeed([`a ${hidden}`]),
        () => Effect.fail(`a ${hidden}`),
        () => Effect.as(Effect.logDebug({ deep: { hidden } }), [])
      ]) {
        assert.include((yield* findingOf(take)).problem, "has the token or the secret")
      }
    })
  )

  it.live("finds an input that takes too long", () =>
    Effect.gen(function* () {
      const busy = Effect.sync(() => {
        for (const start = process.threadCpuUsage(); process.threadCpuUsage(start).user < 3000;);
        return []
      })
      const { problem } = yield* findingOf(() => busy, 1)
      assert.match(problem, /took \d+ ms, and may take 1 ms/)
    })
  )

  it.live("reports a condition that does not hold after all inputs", () =>
    Effect.gen(function* () {
      const target: Target = {
        name: "sample",
        input: Arbitrary.schema(Schema.String),
        start: Effect.succeed({ take: () => Effect.succeed([]), check: Effect.fail("updates stay queued") })
      }
      const { message } = yield* Effect.flip(run(target, { seed, runs: 5 }))
      assert.include(message, "after 5 inputs")
      assert.include(message, "updates stay queued")
    })
  )
})
