import type { BotApi } from "@colloquy/core/client/BotApi"
import { Emulator } from "@colloquy/testing"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import type { Section } from "./sections.ts"

type Test<E> = Effect.Effect<unknown, E, BotApi | Emulator.Emulator | HttpClient.HttpClient | Scope.Scope>

const bot = Emulator.layerBot()

const check = <E>(section: Section, statement: string, test: Test<E>) =>
  it.effect(`${section}: ${statement}`, () => Effect.provide(test, bot))

/**
 * Tests a statement of the API document in a section. `npm run docs` lists section and sentence in `docs/fidelity.md`, so
 * both must be literals. A test that needs another emulator provides its layer.
 */
export const says = <E>(section: Section, sentence: string, test: Test<E>): void => check(section, sentence, test)

/** The evidence for an assumption. A: several independent sources, or real traffic. B: one good source. C: one weak source. */
export type Grade = "A" | "B" | "C"

/** Tests an assumption about a rule that the section of the API document does not state. It is listed with its grade. */
export const assumes = <E>(grade: Grade, section: Section, fact: string, test: Test<E>): void =>
  check(section, `${fact} (assumption ${grade})`, test)
