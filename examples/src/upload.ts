/**
 * Uploads the video `FILE` with a progress bar, waits until the platform has processed it, and sends it to the chat
 * `CHAT_ID`.
 */
import { Chat, Messages, Uploads } from "@colloquy/core"
import { NodeBot, NodeMain, NodeProgress, NodeUploads } from "@colloquy/node"
import { Config, Console, Effect, Option, Stream } from "effect"
import { basename } from "node:path"

const settings = Config.all({
  chat_id: Config.schema(Chat.ChatId, "CHAT_ID"),
  file: Config.NonEmptyString("FILE")
})

const upload = (file: string) =>
  Uploads.events({ type: "video", source: NodeUploads.fromPath(file) }).pipe(
    NodeProgress.showUpload({ title: basename(file) }),
    Stream.filter((event) => event._tag === "Completed"),
    Stream.runLast,
    // An upload that did not fail ends with `Completed`.
    Effect.map((last) => Option.getOrThrow(last).attachment)
  )

const program = Effect.gen(function* () {
  const { chat_id, file } = yield* settings
  const video = yield* upload(file)
  yield* Console.log("Uploaded. Waiting until the platform has processed the video.")
  const sent = yield* Messages.send({ chat_id, text: "The video of the day", attachments: [video] })
  yield* Console.log(`Sent the message ${sent.body?.mid}.`)
}).pipe(
  Effect.catchTags({
    UploadFailed: (error) => Console.log(`Not uploaded: ${error.message}`),
    AttachmentNotReady: () =>
      Console.log("Not sent: the platform has not processed the video within an hour. Send it later.")
  })
)

NodeMain.runMain(Effect.provide(program, NodeBot.layerConfig()))
