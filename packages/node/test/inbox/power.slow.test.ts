import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import * as Files from "../support/files.ts"
import { audit, type Problem } from "../support/power/audit.ts"
import { diceOf, Disk, fates } from "../support/power/disk.ts"
import { databaseName, type Mark } from "../support/power/protocol.ts"
import { isMark, markOf, record, type Recording, unavailable } from "../support/power/recording.ts"

interface Findings {
  readonly problems: ReadonlyArray<Problem>
  /** Power failures at which the disk had not synced something. */
  readonly uncertain: number
}

/** Where the power fails: half of the times right after something was confirmed. */
const cutsOf = ({ calls }: Recording, failures: number, dice: () => number): ReadonlyArray<number> => {
  const marked = calls.flatMap((call, index) => (isMark(call) ? [index] : []))
  const cuts = Array.from({ length: failures }, (_, index) =>
    index % 2 === 0 ? marked[Math.floor(dice() * marked.length)] : Math.floor(dice() * calls.length)
  )
  return cuts.sort((a, b) => a - b)
}

/** Lets the power fail at many points of a recording, and audits what is left. */
const failures = (recording: Recording, count: number, ignoresSync?: (path: string) => boolean) =>
  Effect.gen(function* () {
    const folder = yield* Files.folder
    const dice = diceOf(count)
    const disk = new Disk(recording.folder, ignoresSync)
    const marks: Array<Mark> = []
    const problems: Array<Problem> = []
    let applied = 0
    let uncertain = 0
    for (const [index, cut] of cutsOf(recording, count, dice).entries()) {
      for (; applied <= cut; applied++) {
        const call = recording.calls[applied]
        if (isMark(call)) marks.push(markOf(call))
        else disk.apply(call)
      }
      const place = join(folder, String(index))
      mkdirSync(place)
      const fate = fates[index % fates.length]
      for (const [path, content] of disk.remains(fate, dice)) {
        writeFileSync(join(place, basename(path)), content)
      }
      if (disk.pending > 0) uncertain++
      const found = yield* audit(join(place, databaseName), marks)
      problems.push(
        ...found.map(({ kind, text }) => ({ kind, text: `After call ${cut}, with ${fate} of the rest: ${text}` }))
      )
    }
    return { problems, uncertain } satisfies Findings
  }).pipe(Effect.scoped)

const textsOf = (problems: ReadonlyArray<Problem>) => problems.map(({ text }) => text)

const broken = ({ problems }: Findings) => textsOf(problems.filter(({ kind }) => kind === "broken"))

const isSkipped = unavailable !== undefined && process.env["CI"] !== "true"

if (isSkipped) console.warn(`The tests of power failures are skipped: ${unavailable}.`)

describe.skipIf(isSkipped)("a SQLite file after a power failure", () => {
  it.live("has everything that was confirmed, with the default", () =>
    Effect.gen(function* () {
      const recording = yield* record(undefined)
      const disk = new Disk(recording.folder)
      for (const call of recording.calls) if (!isMark(call)) disk.apply(call)
      assert.deepStrictEqual(disk.remains("everything", diceOf(0)), recording.files)

      const found = yield* failures(recording, 300)
      assert.deepStrictEqual(textsOf(found.problems), [])
      assert.isAbove(found.uncertain, 100)

      const lying = yield* failures(recording, 30, (path) => path.endsWith("-wal"))
      assert.isAbove(lying.problems.length, 30)
    })
  )

  it.live("is intact with `NORMAL`, but misses the latest updates", () =>
    Effect.gen(function* () {
      const found = yield* failures(yield* record("NORMAL"), 150)
      assert.deepStrictEqual(broken(found), [])
      assert.isAbove(found.problems.length, 100)
    })
  )

  it.live("is corrupt with `OFF`", () =>
    Effect.gen(function* () {
      assert.isNotEmpty(broken(yield* failures(yield* record("OFF"), 60)))
    })
  )
})
