import { assert, describe, it } from "@effect/vitest"
import { compareHalves, judge, problemsOf, type TimedSample } from "./soak/report.ts"
import { soak } from "./soak/run.ts"

const expected = { chats: 2, total: 6, replyEvery: 5, deadLetters: 0 }

const complete = ["0 begin 0", "0 end 0", "0 end 1", "0 end 2", "0 end 3", "1 end 4", "1 end 5"]

const replies = [["0"], ["5"]]

const problems = (journal: ReadonlyArray<string>, texts = replies, deadLetters = 0) =>
  problemsOf(judge(journal.join("\n"), texts, { ...expected, deadLetters }), [], 1)

describe("The report of a soak run", () => {
  it("has no problem if all messages were handled in order, and as many were repeated as may be", () => {
    assert.deepStrictEqual(problems(complete), [])
    assert.deepStrictEqual(problems([...complete, "1 end 0"]), [])
    assert.deepStrictEqual(problems(complete, [["0", "0"], ["5"]]), [])
  })

  it("finds updates that were lost, repeated or handled out of order, and dead letters", () => {
    assert.deepStrictEqual(problems(complete.filter((line) => line !== "0 end 3")), ["1 messages were not handled: 3"])
    const late = [...complete.slice(0, 2), ...complete.slice(5), ...complete.slice(2, 5)]
    assert.deepStrictEqual(problems(late), ["3 messages were handled after a later one of their chat: 1, 2, 3"])
    assert.deepStrictEqual(problems([...complete, "1 end 0", "1 end 1"]), [
      "2 handlers were repeated, at most 1 may be"
    ])
    assert.deepStrictEqual(problems(complete, [["0"]]), ["1 replies are missing: 5"])
    assert.deepStrictEqual(problems(complete, [["5", "0"]]), ["1 replies came after a later one of their chat: 0"])
    assert.deepStrictEqual(problems(complete, replies, 3), ["3 dead letters"])
  })

  const sample = (handled: number, age: number, heap: number, files: number): TimedSample => ({
    handled,
    age,
    heap,
    files,
    rss: 100e6,
    resources: 10,
    queued: 0,
    deadLetters: 0
  })

  /** Samples of a process early and late in its life, ten times. */
  const samples = (handled: number, heap: number, files: number) =>
    Array.from({ length: 10 }, () => [sample(handled, 0.1, 10e6, 99), sample(handled, 0.9, heap, files)]).flat()

  it("finds memory and handles that grow, of processes of the same age", () => {
    const grown = compareHalves([...samples(100, 40e6, 30), ...samples(400, 50e6, 32)])
    assert.deepStrictEqual(problemsOf(judge(complete.join("\n"), replies, expected), grown, 0), [
      "heap grew from 40000000 to 50000000",
      "files grew from 30 to 32"
    ])
    const flat = compareHalves([...samples(100, 40e6, 30), ...samples(400, 41e6, 31)])
    assert.lengthOf(flat, 4)
    assert.isTrue(flat.every(({ isFlat }) => isFlat))
  })

  it("says nothing about memory and handles after a short run", () => {
    assert.deepStrictEqual(compareHalves([sample(100, 0.9, 40e6, 30), sample(400, 0.9, 90e6, 30)]), [])
  })
})

describe("A bot that is killed while its platform fails", () => {
  it("handles all messages in order", async () => {
    const total = 600
    const { kills, problems, report, samples } = await soak({
      chats: 20,
      rate: 400,
      total,
      faults: 0.05,
      store: "sqlite",
      killEvery: 200,
      sampleEvery: 40
    })
    assert.deepStrictEqual(problems, [])
    assert.strictEqual(report.handled, total)
    assert.isAtLeast(kills, 1)
    assert.isAbove(samples.length, 2)
  })
})
