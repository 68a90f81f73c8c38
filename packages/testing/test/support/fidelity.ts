import type { BotApi } from "@colloquy/core/BotApi"
import { Emulator } from "@colloquy/testing"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import type { Section } from "./sections.ts"

type Test<E> = Effect.Effect<unknown, E, BotApi | Emulator.Emulator | HttpClient.HttpClient | Scope.Scope>

const bot = Emulator.layerBot()

const check = <E>(section: Section, what: string, test: Test<E>) =>
  it.effect(`${section}: ${what}`, () => Effect.provide(test, bot))

/**
 * A test of what the API document says in a section. `npm run docs` lists section and sentence in `docs/fidelity.md`, so
 * both are literals. A test that needs another emulator provides its own layer.
 */
export const says = <E>(section: Section, sentence: string, test: Test<E>): void => check(section, sentence, test)

/** How sure a belief is. A: several independent sources, or seen in real traffic; B: one good source; C: a weak one. */
export type Grade = "A" | "B" | "C"

/** A test of what is believed where the section of the API document is silent. It is listed with its grade. */
export const assumes = <E>(grade: Grade, section: Section, fact: string, test: Test<E>): void =>
  check(section, `${fact} (assumption ${grade})`, test)
