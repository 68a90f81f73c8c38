import { option } from "../options.ts"

/** The size of a run. `--updates=10000 --kills=20` is the whole one. */
export const updates = option("updates", 600)

export const timers = option("timers", 1000)

export const kills = option("kills", 6)

export const chats = 60

/** Each of them presses in several chats at once. */
export const users = 25

export const concurrency = 16

/** Long enough for a slow machine, short enough for many kills. */
export const lease = "2 seconds"

/** An update may be handled while each of the kills happens, and is not put aside for that. */
export const maxCrashes = 1000

export const stores = ["sqlite", "postgres", "redis"] as const
