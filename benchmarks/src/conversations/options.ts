import { option } from "../options.ts"

/** Conversations that wait. The whole size is `--parked=100000`. */
export const parked = option("parked", 5000)
