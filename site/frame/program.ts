import * as Effect from "effect/Effect"
import { transform } from "sucrase"
import type { Services } from "./emulator.ts"

/** The program of the reader as an effect, or why it cannot be run. */
export class ProgramError extends Error {
  /** The line of the program, counted from 1. */
  readonly line: number | undefined

  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The line of a program that was loaded from a Blob. Removing the types keeps the lines. */
const lineOf = (error: unknown): number | undefined => {
  const [, line] = /blob:[^\s)]*:(\d+):\d+/.exec(error instanceof Error ? (error.stack ?? "") : "") ?? []
  return line === undefined ? undefined : Number(line)
}

/** Removes the types. They are not checked. */
const toJavaScript = (code: string): string => {
  try {
    return transform(code, { transforms: ["typescript"], disableESTransforms: true }).code
  } catch (error) {
    const [, message, line] = /^(?:Error transforming [^:]*: )?(.*?)(?: \((\d+):\d+\))?$/s.exec(messageOf(error)) ?? []
    throw new ProgramError(message ?? messageOf(error), line === undefined ? undefined : Number(line))
  }
}

const load = async (code: string): Promise<Readonly<Record<string, unknown>>> => {
  const url = URL.createObjectURL(new Blob([toJavaScript(code)], { type: "text/javascript" }))
  try {
    return (await import(/* @vite-ignore */ url)) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw new ProgramError(
      /module specifier/.test(messageOf(error))
        ? `${messageOf(error)} In this page, a bot can import "@colloquy/core" and "effect".`
        : messageOf(error),
      lineOf(error)
    )
  } finally {
    URL.revokeObjectURL(url)
  }
}

/** Loads the program of the reader, and returns its export `bot`. */
export const loadBot = async (code: string): Promise<Effect.Effect<unknown, unknown, Services>> => {
  const { bot } = await load(code)
  if (!Effect.isEffect(bot))
    throw new ProgramError('The program has no export "bot" that is an Effect: export const bot = Bot.run(…)')
  return bot as Effect.Effect<unknown, unknown, Services>
}
