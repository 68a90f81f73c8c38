import { option } from "../options.ts"

/** The size of a run. The whole one is `--conversations=1000 --kills=20 --parked=100000`. */
export const conversations = option("conversations", 200)

export const kills = option("kills", 6)

export const parked = option("parked", 5000)

/** Turns of a conversation whose process is killed. */
export const turns = 10

export const chats = 60

export const stores = ["sqlite", "postgres", "redis"] as const
