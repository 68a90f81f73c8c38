import { Queue } from "groupmq"
import { Redis } from "ioredis"
import { redisUrl } from "./places.ts"

/** A queue of JSON texts. */
export const groupmqQueue = (name: string): Queue<string> =>
  new Queue<string>({ redis: new Redis(redisUrl, { maxRetriesPerRequest: null }), namespace: name })
