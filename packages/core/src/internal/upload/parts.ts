import * as Effect from "effect/Effect"
import * as Platform from "../../Platform.ts"
import { Rejected } from "../../UploadError.ts"
import { type Media, UploadEvent } from "../../UploadEvent.ts"
import type { Opened } from "../../UploadSource.ts"
import type { SavedUpload } from "../../Uploads.ts"
import { type HostAnswer, isPromised, mediaIn, placeIn, refusalOf } from "./hostAnswer.ts"
import { exchange, failed, type Job, type Running, type Uploading } from "./job.ts"
import { fileNameOf } from "./fileName.ts"
import { repeating } from "./retry.ts"

/**
 * What is sent twice where an upload breaks is at most a part. So parts are small, half as many as there may be, and of
 * whole pieces of what a source reads at once.
 */
const smallestPart = 2 ** 21
const aimedAtParts = 512
const pieceSize = 2 ** 18

export const leastPartSize = (size: number): number => Math.ceil(size / Platform.maxUploadParts)

export const partSizeFor = (size: number): number =>
  Math.max(smallestPart, Math.ceil(size / aimedAtParts / pieceSize) * pieceSize)

/** @assumption uploadStatusUnavailable */
const isBusy = (status: number): boolean => [408, 429, 502, 503, 504].includes(status)

/** @assumption misplacedPart */
const isMisplaced = (status: number): boolean => status === 416 || status === 500

/** How often an upload may begin anew. */
const maxAddresses = 4

interface State {
  saved: SavedUpload
  /** The next byte. */
  offset: number
  /** Whether the host agrees on it. */
  isAgreed: boolean
  /** How often the host refused to go on there. */
  misplaced: number
  addresses: number
}

/**
 * The file in parts. Where it breaks, the host is asked how far it came, and it goes on there.
 *
 * @assumption partRequest
 */
export const uploadParts = (
  job: Job,
  { read }: Opened,
  begun: { readonly saved: SavedUpload; readonly isNew: boolean }
): Uploading => {
  const { size } = begun.saved
  const progress = job.measure(size)
  const state: State = { saved: begun.saved, offset: 0, isAgreed: begun.isNew, misplaced: 0, addresses: 1 }

  const standAt = (offset: number) => {
    if (offset !== state.offset) state.misplaced = 0
    state.offset = offset
    state.isAgreed = true
    progress.standAt(offset)
  }

  const beginAnew = (told: HostAnswer): Running<void> =>
    Effect.gen(function* () {
      if (state.addresses === maxAddresses) {
        return yield* failed(job, new Rejected({ status: told.status, body: told.text }))
      }
      state.addresses++
      const { token, url } = yield* job.ask
      const { token: _, ...rest } = state.saved
      state.saved = { ...rest, url, ...(token == null ? {} : { token }) }
      state.misplaced = 0
      job.tell(UploadEvent.Started({ saved: state.saved }))
      standAt(0)
    })

  const refuse = (answer: HostAnswer) => {
    const refusal = refusalOf(answer)
    return refusal === undefined ? Effect.void : Effect.fail(failed(job, refusal, state.saved))
  }

  /** @assumption uploadStatus */
  const agree: Running<void> = Effect.gen(function* () {
    const answer = yield* exchange(job, progress, { method: "GET", url: state.saved.url }, state.saved)
    if (isBusy(answer.status)) return yield* refuse(answer)
    const place = answer.status === 200 ? placeIn(answer.text, size) : answer.status === 204 ? 0 : undefined
    const isStuck = place === state.offset && state.misplaced > 1
    // Of a file that is complete, the token of a picture or of a file was in an answer that got lost.
    const isLost = place === size && !isPromised(job.type)
    if (place === undefined || isStuck || isLost) return yield* beginAnew(answer)
    standAt(place)
  })

  const complete = (answer: HostAnswer): Uploading =>
    Effect.mapError(Effect.fromResult(mediaIn(job.type, state.saved.token, answer, size)), (reason) =>
      failed(job, reason, state.saved)
    )

  const sendPart: Running<Media | undefined> = Effect.gen(function* () {
    const first = state.offset
    const end = Math.min(first + state.saved.partSize, size)
    state.isAgreed = false
    const answer = yield* exchange(
      job,
      progress,
      {
        method: "POST",
        url: state.saved.url,
        headers: {
          "content-range": `bytes ${first}-${end - 1}/${size}`,
          "content-disposition": `attachment; ${fileNameOf(job.name)}`
        },
        body: {
          type: "application/octet-stream",
          content: read(first, end),
          length: end - first,
          check: () => undefined
        }
      },
      state.saved
    )
    if (isMisplaced(answer.status)) state.misplaced++
    yield* refuse(answer)
    if (end === size) return yield* complete(answer)
    standAt(placeIn(answer.text, size) ?? end)
    return undefined
  })

  const step: Running<Media | undefined> = Effect.gen(function* () {
    if (!state.isAgreed) yield* agree
    return state.offset < size ? yield* sendPart : yield* complete({ status: 200, text: `0-${size - 1}/${size}` })
  })

  return Effect.gen(function* () {
    if (begun.isNew) standAt(0)
    let media: Media | undefined
    while (media === undefined) media = yield* repeating(step)
    return media
  })
}
