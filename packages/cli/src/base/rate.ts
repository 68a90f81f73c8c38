import * as Effect from "effect/Effect"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"

/** The flag of commands that queue many updates. */
export const rateFlag = Flag.Int("rate").pipe(
  Flag.filter(
    (rate) => rate > 0,
    (rate) => `--rate ${rate}: must be above 0`
  ),
  Flag.withMetavar("NUMBER"),
  Flag.withDescription(
    "Maximum number of updates in a second, so that the bot does other work as well. Default: no limit"
  ),
  Flag.optional
)

const maxPart = 100

/** How many parts of a list are done in a second at most. */
const partsPerSecond = 10

/** Does something with parts of a list, one after the other, with at most `rate` elements in a second. Returns the sum of the results. */
export const paced = <A, E, R>(
  items: ReadonlyArray<A>,
  rate: Option.Option<number>,
  f: (part: ReadonlyArray<A>) => Effect.Effect<number, E, R>
): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    const size = Option.match(rate, {
      onNone: () => maxPart,
      onSome: (perSecond) => Math.min(maxPart, Math.ceil(perSecond / partsPerSecond))
    })
    let sum = 0
    for (let from = 0; from < items.length; from += size) {
      sum += yield* f(items.slice(from, from + size))
      if (Option.isSome(rate) && from + size < items.length) yield* Effect.sleep((1000 * size) / rate.value)
    }
    return sum
  })
