import * as core from "@colloquy/core"
import * as Schema from "effect/Schema"
import type { Names } from "./jsonSchema.ts"

const isNamed = ({ ast }: Schema.Top): boolean => ast._tag === "Objects" || ast._tag === "Union"

/** The names that the modules of the core export schemas under; kinds of a union are named by the union. */
export const names = (): Names => {
  const named = new Map<Schema.Top["ast"], string>()
  for (const module of Object.values<Readonly<Record<string, unknown>>>(core)) {
    for (const [name, value] of Object.entries(module)) {
      if (Schema.isSchema(value) && isNamed(value) && !named.has(value.ast)) named.set(value.ast, name)
    }
  }
  const { cases } = core.Update
  for (const [type, schema] of Object.entries(cases)) {
    named.set(schema.ast, `${type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Update`)
  }
  return named
}
