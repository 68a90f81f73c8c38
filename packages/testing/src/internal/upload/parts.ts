import type { UploadProgress } from "../platform/model.ts"

/** The bytes of one part, the last one included, and the size of the whole file. */
export interface Range {
  readonly first: number
  readonly last: number
  readonly size: number
}

export const readRange = (header: string | undefined): Range | "malformed" | undefined => {
  if (header === undefined) return undefined
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header) ?? []
  const range = { first: Number(first), last: Number(last), size: Number(size) }
  return range.first <= range.last && range.last < range.size ? range : "malformed"
}

/** @assumption C An upload has at most 1000 parts. */
const maxParts = 1000

/** Whether a part goes on where the parts before it ended. */
export const continues = ({ first, size }: Range, progress: UploadProgress | undefined): boolean =>
  progress === undefined
    ? first === 0
    : first === progress.received && size === progress.size && progress.parts < maxParts

export const after = ({ last, size }: Range, progress: UploadProgress | undefined): UploadProgress => ({
  received: last + 1,
  size,
  parts: (progress?.parts ?? 0) + 1
})

/** How far an upload is, in the host's words. */
export const describeProgress = ({ received, size }: UploadProgress): string => `0-${received - 1}/${size}`
