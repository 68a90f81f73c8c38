import type { Situation } from "../planning.ts"

/** A defect that is planted into a copy of the library, to test whether the simulator finds it. */
export interface Defect {
  /** What is wrong, in a few words. */
  readonly name: string
  /** The file in `packages/core/src`. */
  readonly file: string
  /** A text that the file has once. */
  readonly find: string
  readonly replace: string
  /** The programs in which it can show. */
  readonly programs: ReadonlyArray<string>
  /** What happens again and again while the defect is searched, if few seeds find it. */
  readonly situation?: Situation
}
