import { Deliveries, Update, Updates } from "@colloquy/core"
import { Effect, FileSystem, Stream } from "effect"

/** The lines of a file, each an update as JSON. If the program is restarted, it continues after the last stored line. */
const lines = (path: string) => (marker: bigint | undefined) =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(path))).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.map(([line, index]) => ({ update: line, marker: BigInt(index + 1) })),
    Stream.drop(Number(marker ?? 0n))
  )

/** Replays a file, and returns how many messages of it contain a word. */
export const countMessagesWith = Effect.fn(function* (path: string, word: string) {
  const source = yield* Updates.make(lines(path))
  let count = 0
  yield* Updates.deliveries({ source }).pipe(
    Deliveries.on("message_created"),
    Deliveries.filter((update) => Update.textOf(update)?.includes(word) === true),
    Deliveries.runForEach(() => Effect.sync(() => count++))
  )
  return count
})
