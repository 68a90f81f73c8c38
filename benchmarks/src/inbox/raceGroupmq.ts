/** Handles the jobs that wait in groupmq: `raceGroupmq.ts NAME`. */
import { Worker } from "groupmq"
import { contend } from "./contender.ts"
import { groupmqQueue } from "./groupmq.ts"
import { concurrency } from "./race.ts"

const queue = groupmqQueue(process.argv[2]!)

contend((record) => {
  const worker = new Worker<string>({
    queue,
    concurrency,
    handler: async ({ data }) => record((JSON.parse(data) as { readonly timestamp: number }).timestamp)
  })
  void worker.run()
})
