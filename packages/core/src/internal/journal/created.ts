import type { Created } from "./current.ts"

/** Messages that were created longer ago are too old to be taken for the result of a later call. */
const maxIds = 10_000

/** Messages that the estimate of the platform's time cannot tell from later ones are among these. */
const maxLatest = 100

/** What the calls of a process have created, so that no other call takes it as its result. */
export interface AllCreated {
  readonly add: (created: Created) => void
  readonly has: (id: string) => boolean
  /** Returns the ids of what was created since a time, unless it was created in another chat than `chat_id`. */
  readonly since: (time: number, chat_id: number | undefined) => ReadonlyArray<string>
}

export const makeAllCreated = (): AllCreated => {
  const ids = new Set<string>()
  /** In the order of their creation. */
  const latest: Array<Created> = []
  return {
    add: (created) => {
      ids.add(created.id)
      latest.push(created)
      if (latest.length > maxLatest) latest.shift()
      if (ids.size <= maxIds) return
      const [oldest] = ids
      ids.delete(oldest)
    },
    has: (id) => ids.has(id),
    since: (time, chat_id) =>
      latest
        .filter(({ at, chat_id: other }) => at >= time && (other ?? chat_id) === (chat_id ?? other))
        .map(({ id }) => id)
  }
}
