import { Effect } from "effect"
import { deflateSync } from "node:zlib"
import * as Runner from "../runner/scenario.ts"

/** The header of a PNG image with these sides. */
const png = (width: number, height: number): Uint8Array => {
  const header = Buffer.alloc(33)
  header.set(Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"))
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return Buffer.concat([header, deflateSync(Buffer.alloc(1000))])
}

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  const program = yield* Runner.start("photo", { ...(yield* Runner.botSettings), BOT_PRIVATE_HOSTS: "127.0.0.1" })
  yield* ann.says("hello")
  yield* ann.sees
  yield* ann.does("(a photo)", ann.send("", { attachments: [{ type: "image", content: png(640, 480) }] }))
  yield* ann.sees
  yield* program.stop
})
