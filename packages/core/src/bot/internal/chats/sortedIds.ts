import type { ChatId } from "../../../model/Recipient.ts"

/** A block with more ids than this is divided into two. */
const maxBlock = 1000

/** Returns the index of the first element for which `isAfter` is true, if `isAfter` is true for all later elements. */
const firstIndex = <A>(all: ReadonlyArray<A>, isAfter: (element: A) => boolean): number => {
  let low = 0
  let high = all.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAfter(all[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

/** Ids in ascending order, in blocks, so that adding an id to a million ids moves only the ids of its block. */
export const make = () => {
  const blocks: Array<Array<ChatId>> = []

  /** The first block whose last id is not below an id. */
  const blockOf = (id: ChatId): number => firstIndex(blocks, (block) => block[block.length - 1]! >= id)

  return {
    /** Adds an id that is not among the others. */
    add: (id: ChatId): void => {
      const index = Math.min(blockOf(id), Math.max(0, blocks.length - 1))
      const block = (blocks[index] ??= [])
      block.splice(
        firstIndex(block, (other) => other > id),
        0,
        id
      )
      if (block.length > maxBlock) blocks.splice(index + 1, 0, block.splice(maxBlock / 2))
    },
    remove: (id: ChatId): void => {
      const index = blockOf(id)
      const block = blocks[index]
      const place = block?.indexOf(id) ?? -1
      if (block === undefined || place === -1) return
      block.splice(place, 1)
      if (block.length === 0) blocks.splice(index, 1)
    },
    /** The first ids above another one, or of all. */
    after: (id: ChatId | undefined, limit: number): ReadonlyArray<ChatId> => {
      const ids: Array<ChatId> = []
      const start = id === undefined ? 0 : firstIndex(blocks, (block) => block[block.length - 1]! > id)
      for (let index = start; index < blocks.length && ids.length < limit; index++) {
        const block = blocks[index]!
        const from = index === start && id !== undefined ? firstIndex(block, (other) => other > id) : 0
        ids.push(...block.slice(from, from + limit - ids.length))
      }
      return ids
    }
  }
}
