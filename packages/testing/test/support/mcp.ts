import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { assert } from "@effect/vitest"
import { Json as Exact } from "@colloquy/core"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import type { Json } from "./control.ts"

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))

/** Starts the command with `--mcp` as an assistant does, and connects the client of the protocol's own library. */
export const connect = (
  args: ReadonlyArray<string> = [],
  command: ReadonlyArray<string> = ["--conditions=source", bin]
) =>
  Effect.gen(function* () {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...command, "--mcp", ...args],
      stderr: "pipe"
    })
    const client = new Client({ name: "test", version: "1.0.0" })
    const errors: Array<Error> = []
    // A line on standard output that is not of the protocol is an error of the transport.
    Object.assign(client, { onerror: (error: Error) => void errors.push(error) })
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect(transport)),
      () => Effect.promise(() => client.close())
    )
    const call = (name: string, args: Json = {}): Effect.Effect<{ readonly isError: boolean; readonly body: Json }> =>
      Effect.map(
        Effect.promise(() => client.callTool({ name, arguments: args as Record<string, unknown> })),
        (result) => {
          const [content] = result.content as ReadonlyArray<{ readonly type: string; readonly text: string }>
          assert.strictEqual(content?.type, "text")
          return { isError: result.isError === true, body: Exact.parse(content!.text) as Json }
        }
      )
    /** Calls a tool that must succeed. */
    const callOk = (name: string, args: Json = {}): Effect.Effect<Json> =>
      Effect.map(call(name, args), ({ body, isError }) => {
        assert.isFalse(
          isError,
          JSON.stringify(body, (_, value: unknown) => String(value))
        )
        return body
      })
    return { client, transport, errors, call, callOk }
  })
