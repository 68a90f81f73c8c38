import * as Flag from "effect/cli/Flag"
import { standard, switchFlag } from "./flags.ts"

/** The flags of commands that write a test. */
export const testFlags = {
  bot: Flag.String("bot").pipe(
    Flag.withMetavar("MODULE"),
    standard("../src/bot.ts", "The module that exports `bot`, as the test imports it")
  ),
  raw: switchFlag("raw", "Keeps names, ids, e-mail addresses and phone numbers")
}

/** A Vitest test that repeats what a bot did. */
export interface TestSource {
  /** The imports of the type of the data, and of the module that repeats these. */
  readonly imports: ReadonlyArray<string>
  /** The module that exports `bot`. */
  readonly module: string
  /** The description of the test, in lines. */
  readonly about: ReadonlyArray<string>
  /** Whether personal data are kept. */
  readonly isRaw: boolean
  /** The declaration of the data, without the value. */
  readonly declaration: string
  readonly value: unknown
  readonly title: string
  /** The effect that the test runs. */
  readonly effect: ReadonlyArray<string>
}

/** Writes a test. */
export const writeTest = ({ about, declaration, effect, imports, isRaw, module, title, value }: TestSource): string =>
  [
    ...imports,
    'import { Effect } from "effect"',
    `import { ${effect.some((line) => line.includes("expect(")) ? "expect, it" : "it"} } from "vitest"`,
    `import { bot } from ${JSON.stringify(module)}`,
    "",
    ...about.map((line) => `// ${line}`),
    ...(isRaw
      ? []
      : ["// Names, ids, e-mail addresses and phone numbers are replaced. Read the texts before you commit them."]),
    `${declaration} = ${JSON.stringify(value, undefined, 2)}`,
    "",
    `it(${JSON.stringify(title)}, () =>`,
    "  Effect.runPromise(",
    ...effect.map((line) => `    ${line}`),
    "  ))",
    ""
  ].join("\n")
