import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpClient from "effect/http/HttpClient"
import type { UploadFailed } from "../../UploadError.ts"
import type { Opened, UploadSource } from "../../UploadSource.ts"
import { mediaIn, refusalOf } from "./hostAnswer.ts"
import { checkSize } from "./checks.ts"
import { exchange, failed, type Job, type Uploading } from "./job.ts"
import { fileNameOf } from "./fileName.ts"
import { repeating } from "./retry.ts"

const bytesOf = (text: string): Uint8Array => HttpBody.text(text).body

/** The form around the file: one field, `data`. */
const form = Effect.fnUntraced(function* (name: string) {
  const boundary = `colloquy-${yield* Random.nextInt}-${yield* Random.nextInt}`
  const head = [
    `--${boundary}`,
    `content-disposition: form-data; name="data"; ${fileNameOf(name)}`,
    "content-type: application/octet-stream"
  ]
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    before: bytesOf(`${head.join("\r\n")}\r\n\r\n`),
    after: bytesOf(`\r\n--${boundary}--\r\n`)
  }
})

/** Opens a source that has passed the checks. */
export type Opening = Effect.Effect<Opened, UploadFailed, HttpClient.HttpClient | Scope.Scope>

/** The whole file in one request. Where that breaks, and the source can be read again, it begins anew elsewhere. */
export const uploadWhole = (job: Job, { access: reads }: UploadSource, open: Opening): Uploading => {
  const attempt: Uploading = Effect.scoped(
    Effect.gen(function* () {
      const { read, size } = yield* open
      const { token, url } = yield* job.ask
      const progress = job.measure(size)
      progress.standAt(0)
      const answer = yield* exchange(job, progress, {
        method: "POST",
        url,
        body: {
          ...(yield* form(job.name)),
          content: read(0, size ?? Infinity),
          length: size,
          check: (length) => checkSize(job.limits, length)
        }
      })
      const refusal = refusalOf(answer)
      if (refusal !== undefined) return yield* failed(job, refusal)
      return yield* Effect.mapError(Effect.fromResult(mediaIn(job.type, token ?? undefined, answer, size)), (reason) =>
        failed(job, reason)
      )
    })
  )
  return reads === "once" ? attempt : repeating(attempt)
}
