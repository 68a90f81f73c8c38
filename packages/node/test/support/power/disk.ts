/** A disk that loses power: which files can be found afterwards, after the calls that `recorder.c` has recorded. */

/** A call of the system, or several of them that are one to the disk. */
export interface Call {
  readonly kind: "write" | "truncate" | "sync" | "create" | "unlink" | "rename"
  /** The file. 0 if only a name is changed. */
  readonly inode: number
  readonly path: string
  /** Where a write begins, or the new size. */
  readonly offset: number
  /** What was written, or the new name. */
  readonly data: Buffer
}

const kinds: Readonly<Record<string, Call["kind"]>> = {
  w: "write",
  t: "truncate",
  s: "sync",
  c: "create",
  u: "unlink",
  r: "rename"
}

const headerLength = 24

/** Reads a log of `recorder.c`. A process that was killed may have left half of an entry at its end. */
export const parseLog = (log: Buffer): ReadonlyArray<Call> => {
  const calls: Array<Call> = []
  let at = 0
  while (at + headerLength <= log.length) {
    const pathEnd = at + headerLength + log.readUInt16LE(at + 2)
    const end = pathEnd + log.readUInt32LE(at + 4)
    if (end > log.length) break
    calls.push({
      kind: kinds[String.fromCharCode(log[at])],
      inode: Number(log.readBigUInt64LE(at + 8)),
      offset: Number(log.readBigUInt64LE(at + 16)),
      path: log.toString("utf8", at + headerLength, pathEnd),
      data: log.subarray(pathEnd, end)
    })
    at = end
  }
  return calls
}

/** What the disk has done of the calls that were not synced. */
export type Fate = "nothing" | "everything" | "some calls" | "some sectors"

export const fates: ReadonlyArray<Fate> = ["nothing", "everything", "some calls", "some sectors"]

/** Returns numbers from 0 to 1 (exclusive), which a 32-bit seed decides (mulberry32). */
export const diceOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

/** A disk writes a sector as a whole, or not at all. */
const sectorLength = 512

class Content {
  #bytes: Buffer
  #length: number

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = bytes
    this.#length = bytes.length
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  write(offset: number, data: Buffer): void {
    const end = offset + data.length
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(end, 2 * this.#bytes.length))
      this.bytes.copy(grown)
      this.#bytes = grown
    }
    data.copy(this.#bytes, offset)
    this.#length = Math.max(this.#length, end)
  }

  resize(length: number): void {
    if (length > this.#length) return this.write(this.#length, Buffer.alloc(length - this.#length))
    this.#bytes.fill(0, length, this.#length)
    this.#length = length
  }

  apply({ data, kind, offset }: Call): void {
    if (kind === "write") this.write(offset, data)
    else this.resize(offset)
  }

  /** Applies the sectors of a write that are chosen. */
  applySectors({ data, offset }: Call, isChosen: () => boolean): void {
    let at = 0
    while (at < data.length) {
      const end = Math.min(data.length, at + sectorLength - ((offset + at) % sectorLength))
      if (isChosen()) this.write(offset + at, data.subarray(at, end))
      at = end
    }
  }
}

interface File {
  readonly synced: Content
  pending: Array<Call>
}

const rename = (names: Map<string, number>, { data, inode, kind, path }: Call): void => {
  if (kind === "create") return void names.set(path, inode)
  const moved = names.get(path)
  names.delete(path)
  if (kind === "rename" && moved !== undefined) names.set(data.toString(), moved)
}

/** The disk with a folder. Calls are applied in their order. */
export class Disk {
  readonly #files = new Map<number, File>()
  readonly #names = new Map<string, number>()
  readonly #folder: string
  readonly #ignoresSync: (path: string) => boolean
  #pendingNames: Array<Call> = []

  /** `ignoresSync`: a file that the disk does not sync, although it says so. */
  constructor(folder: string, ignoresSync: (path: string) => boolean = () => false) {
    this.#folder = folder
    this.#ignoresSync = ignoresSync
  }

  #fileOf(inode: number): File {
    const known = this.#files.get(inode)
    if (known !== undefined) return known
    const file: File = { synced: new Content(), pending: [] }
    this.#files.set(inode, file)
    return file
  }

  apply(call: Call): void {
    switch (call.kind) {
      case "write":
      case "truncate":
        this.#fileOf(call.inode).pending.push(call)
        return
      case "sync": {
        if (this.#ignoresSync(call.path)) return
        if (call.path === this.#folder) {
          this.#pendingNames.forEach((call) => rename(this.#names, call))
          this.#pendingNames = []
          return
        }
        const file = this.#fileOf(call.inode)
        file.pending.forEach((call) => file.synced.apply(call))
        file.pending = []
        return
      }
      default:
        // The inode of a file that was deleted can be that of a new one.
        if (call.kind === "create") this.#files.delete(call.inode)
        this.#pendingNames.push(call)
    }
  }

  /** How many calls were not synced. */
  get pending(): number {
    return [...this.#files.values()].reduce((sum, { pending }) => sum + pending.length, this.#pendingNames.length)
  }

  /** The files by their paths, as they may be found if the power fails now. */
  remains(fate: Fate, dice: () => number): ReadonlyMap<string, Buffer> {
    const chance = fate === "nothing" ? 0 : fate === "everything" ? 1 : dice()
    const isChosen = () => dice() < chance
    const names = new Map(this.#names)
    for (const call of this.#pendingNames) if (isChosen()) rename(names, call)
    const contentOf = ({ pending, synced }: File) => {
      const content = new Content(Buffer.from(synced.bytes))
      for (const call of pending) {
        if (fate === "some sectors" && call.kind === "write") content.applySectors(call, isChosen)
        else if (isChosen()) content.apply(call)
      }
      return content.bytes
    }
    return new Map([...names].map(([path, inode]) => [path, contentOf(this.#fileOf(inode))]))
  }
}
