import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { conversationTools } from "./conversation.ts"
import { membershipTools } from "./membership.ts"
import { platformTools } from "./platformTools.ts"
import type { Answer, Emulated, Tool } from "./tool.ts"
import { makeWaiting } from "./waiting.ts"

/** Creates the tools of one server. */
export const makeTools = (): ReadonlyArray<Tool> => [
  ...membershipTools,
  ...conversationTools,
  makeWaiting(),
  ...platformTools
]

// The text of the control API is exact for integers beyond 2^53. Structured content would round these integers.
const toResult = ({ body, status }: Answer) =>
  new McpSchema.CallToolResult({
    isError: status !== 200,
    content: [McpSchema.TextContent.make({ text: body })]
  })

const decodeSchema = Schema.decodeUnknownEffect(McpSchema.ToolJson)

const register = Effect.fnUntraced(function* (tool: Tool, emulated: Emulated) {
  const server = yield* McpServer.McpServer
  const { description, destroys = false, endpoints, name, title } = tool
  yield* server.addTool({
    tool: new McpSchema.Tool({
      name,
      title,
      description,
      inputSchema: yield* Effect.orDie(decodeSchema(tool.inputSchema)),
      annotations: {
        title,
        readOnlyHint: endpoints.every(({ declaration }) => declaration.method === "GET"),
        destructiveHint: destroys,
        openWorldHint: false
      }
    }),
    annotations: Context.empty(),
    handle: (request) => Effect.map(tool.run(request, emulated), toResult)
  })
})

const instructionsOf = (url: string, token: string) =>
  `An emulator of the messaging platform, to try a bot against. The bot that is tried must use the base URL ${url} and the ` +
  `token ${token} in the header Authorization; start it as a program of its own. Then act as a person: create_person, start, ` +
  "say or press, and wait_for_reply. If nothing comes, read_requests shows what the bot called and what was answered. " +
  "set_faults makes requests fail, and move_clock lets hours pass on the platform. reset begins again. " +
  `A developer can watch at ${url}/_emulator/ui.`

/** Serves the control API as an MCP server over standard input and output. */
export const layer = (emulated: Emulated, token: string) =>
  McpServer.layerStdio({
    name: "colloquy-emulator",
    version: "0.0.0",
    instructions: instructionsOf(emulated.url, token),
    protocols: [
      McpProtocol.v2025_11_25,
      McpProtocol.v2025_06_18,
      McpProtocol.v2025_03_26,
      McpProtocol.v2024_11_05,
      McpProtocol.v2026_07_28
    ],
    registrations: Layer.effectDiscard(
      Effect.forEach(makeTools(), (tool) => register(tool, emulated), { discard: true })
    )
  })
