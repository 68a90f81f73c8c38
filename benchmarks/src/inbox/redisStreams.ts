import { Redis } from "ioredis"
import { redisUrl } from "./places.ts"

type Entries = ReadonlyArray<readonly [id: string, fields: ReadonlyArray<string>]>

/** A Redis stream with a consumer group. It keeps no order between consumers, and duplicates. */
export const open = async (name: string) => {
  const [writer, reader] = [new Redis(redisUrl), new Redis(redisUrl)]
  const stream = `${name}:stream`
  await writer.xgroup("CREATE", stream, "group", "$", "MKSTREAM")
  return {
    add: async (texts: ReadonlyArray<string>): Promise<void> => {
      const pipeline = writer.pipeline()
      for (const text of texts) pipeline.xadd(stream, "*", "text", text)
      await pipeline.exec()
    },
    /** Handles entries until `total` are acknowledged and deleted. Each round trip reads the next ones. */
    handle: async (total: number, atOnce: number, handle: (text: string) => void): Promise<void> => {
      let done: ReadonlyArray<string> = []
      for (let handled = 0; ;) {
        const pipeline = reader.pipeline()
        if (done.length > 0) pipeline.xack(stream, "group", ...done).xdel(stream, ...done)
        if (handled < total)
          pipeline.xreadgroup("GROUP", "group", "one", "COUNT", atOnce, "BLOCK", 1000, "STREAMS", stream, ">")
        const results = await pipeline.exec()
        if (handled >= total) return
        const [error, read] = results!.at(-1)!
        if (error !== null) throw error
        const entries: Entries = read === null ? [] : (read as ReadonlyArray<readonly [string, Entries]>)[0]![1]
        for (const [, fields] of entries) handle(fields[1]!)
        handled += entries.length
        done = entries.map(([id]) => id)
      }
    },
    close: async (): Promise<void> => {
      await writer.del(stream)
      writer.disconnect()
      reader.disconnect()
    }
  }
}
