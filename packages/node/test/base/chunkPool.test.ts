import { Uploads, UploadSource } from "@colloquy/core"
import { NodeBot, NodeBotHttpClient, NodeUploads } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import * as Servers from "../support/servers.ts"
import { digestHost, digestOf, megabyte, writeTempFile } from "../support/uploads.ts"

describe("chunkPool", () => {
  it.live("does not reuse a chunk that was not released", () =>
    Effect.gen(function* () {
      const content = randomBytes(4 * megabyte)
      const kept: Array<Uint8Array> = []
      const opened = yield* NodeUploads.fromPath(yield* writeTempFile(content)).open
      yield* Stream.runForEach(opened.read(0, content.length), (chunk) => Effect.sync(() => kept.push(chunk)))
      assert.strictEqual(digestOf(Buffer.concat(kept)), digestOf(content))
    }).pipe(Effect.provide(NodeBotHttpClient.layer()))
  )

  it.live("does not take the memory of other streams", () =>
    Effect.gen(function* () {
      const baseUrl = yield* Servers.serve(digestHost())
      const own = Buffer.alloc(2 ** 18, 7)
      const source = UploadSource.stream(Stream.make(own, own, own))
      const content = randomBytes(4 * megabyte)
      const file = NodeUploads.fromPath(yield* writeTempFile(content))
      const bot = NodeBot.layer({ token: "token", baseUrl })
      yield* Effect.provide(
        Effect.andThen(Uploads.upload({ type: "file", source }), Uploads.upload({ type: "file", source: file })),
        bot
      )
      assert.isTrue(own.every((byte) => byte === 7))
    })
  )
})
