import type { Costs } from "../child.ts"
import { compare, type Measured } from "../figure.ts"

/** Runs a program once for all figures that need its costs. */
export const lazily = <A>(make: () => Promise<A>): (() => Promise<A>) => {
  let made: Promise<A> | undefined
  return () => (made ??= make())
}

/** The ratio of two costs that a program prints. */
export const ratio =
  (costs: () => Promise<Costs>, ours: string, theirs: string, unit: string) => async (): Promise<Measured> => {
    const measured = await costs()
    return compare({ name: ours, costs: measured[ours] }, { name: theirs, costs: measured[theirs] }, unit)
  }
