/**
 * Measures photos: downloads the photo of a person, with at most 10 MiB, and answers with its width and height.
 */
import { Attachments, Bot, Handler, LongPolling, Messages } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Effect, Layer, Stream } from "effect"
import { imageSize } from "image-size"

const maxSize = 10 * 2 ** 20

/** The sides of a photo in pixels, or `undefined` if the format is unknown. */
const measure = (chunks: ReadonlyArray<Uint8Array>) =>
  Effect.orElseSucceed(
    Effect.try(() => imageSize(Buffer.concat(chunks))),
    () => undefined
  )

const answer = Handler.on("message_created", (update) => {
  const body = update.message?.body
  const photo = body?.attachments?.find((attachment) => attachment.type === "image")
  if (photo === undefined) return Messages.reply(update, "Send me a photo, and I will measure it.")
  return Attachments.download(photo, { message_id: body?.mid, maxSize }).pipe(
    Stream.runCollect,
    Effect.flatMap(measure),
    Effect.map((size) => (size === undefined ? "This is no photo." : `${size.width} x ${size.height} px`)),
    Effect.catchReason("DownloadFailed", "TooLarge", () => Effect.succeed("Send a photo of at most 10 MiB.")),
    Effect.flatMap((text) => Messages.reply(update, text))
  )
})

export const bot = Bot.run(answer)

if (import.meta.main) {
  const updates = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))
  NodeMain.runMain(Effect.provide(bot, updates))
}
