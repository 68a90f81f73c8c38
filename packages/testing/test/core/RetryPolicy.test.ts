import { Messages, Uploads } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import { advance, bytes, dialog, sendAttachment } from "../support/uploads.ts"

describe("RetryPolicy.attachmentNotReady", () => {
  const recordSpans = () => {
    const spans: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    return { spans, layer: Layer.succeed(Tracer.Tracer, tracer) }
  }

  const slowPlatform = Emulator.layerBot({ processing: { minimum: "7 minutes" } })

  const durationOf = ({ status }: Tracer.Span): number =>
    status._tag === "Ended" ? Number((status.endTime - status.startTime) / 1_000_000n) : 0

  it.effect("waits until the platform has processed the file, in a separate span", () =>
    Effect.gen(function* () {
      const { layer, spans } = recordSpans()
      const attachment = yield* Uploads.upload({ type: "video", source: bytes(1000), name: "a.mp4" })
      assert.strictEqual((yield* Effect.provide(sendAttachment(attachment), layer))?.type, "video")
      const [waiting] = spans.filter(({ name }) => name === "Messages.send waits for its files")
      assert.isAtLeast(durationOf(waiting), 7 * 60_000)
      assert.isAbove(spans.filter(({ name }) => name === "Messages.send").length, 5)
    }).pipe(Effect.provide(slowPlatform))
  )

  it.effect("fails with AttachmentNotReady when the schedule of the policy ends", () =>
    Effect.gen(function* () {
      const attachment = yield* Uploads.upload({ type: "video", source: bytes(1000), name: "a.mp4" })
      const before = yield* Clock.currentTimeMillis
      const { chat_id } = yield* dialog
      const error = yield* Effect.flip(advance(Messages.send({ chat_id, attachments: [attachment] })))
      assert.strictEqual(error._tag, "AttachmentNotReady")
      const minutes = ((yield* Clock.currentTimeMillis) - before) / 60_000
      assert.isTrue(minutes > 58 && minutes < 62, `${minutes}`)
    }).pipe(Effect.provide(Emulator.layerBot({ processing: { minimum: "2 hours" } })))
  )
})
