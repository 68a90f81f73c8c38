import type * as Endpoint from "@colloquy/core/client/Endpoint"
import { assert, describe, it } from "vitest"
import * as declarations from "../../../src/emulator/internal/control/declarations.ts"
import { routes } from "../../../ui/routes.ts"

const declared: Readonly<Record<string, unknown>> = declarations

describe("the calls of the page", () => {
  it.each(Object.entries(routes))("%s is declared as %s", (name, [method, path]) => {
    const { declaration } = declared[name] as Endpoint.Any
    assert.deepStrictEqual([declaration.method, declaration.path], [method, `/_emulator${path}`])
  })
})
