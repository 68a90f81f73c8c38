import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as ApiError from "../../ApiError.ts"
import type { BotApi } from "../../BotApi.ts"
import { type Reason, UploadFailed } from "../../UploadError.ts"
import type { Media, UploadEvent } from "../../UploadEvent.ts"
import type { Limits } from "../../UploadLimits.ts"
import type { SavedUpload, UploadAddress, UploadType } from "../../Uploads.ts"
import type { HostAnswer } from "./hostAnswer.ts"
import type { Progress } from "./progressEvents.ts"
import { type HostRequest, send } from "./request.ts"

/** What an upload does, whichever way it goes. */
export interface Job {
  readonly type: UploadType
  readonly name: string
  readonly limits: Limits
  readonly patience: Duration.Duration
  readonly measure: (size: number | undefined) => Progress
  readonly tell: (event: UploadEvent) => void
  /** Asks the platform for an address. */
  readonly ask: Running<UploadAddress>
}

export type Running<A> = Effect.Effect<A, UploadFailed | ApiError.Common, BotApi | HttpClient.HttpClient>

export type Uploading = Running<Media>

export const failed = ({ name, type }: Pick<Job, "name" | "type">, reason: Reason, saved?: SavedUpload) =>
  new UploadFailed({ type, name, reason, ...(saved === undefined ? {} : { saved }) })

/** Sends a request of a job to the upload host. */
export const exchange = (
  job: Job,
  progress: Progress,
  request: HostRequest,
  saved?: SavedUpload
): Effect.Effect<HostAnswer, UploadFailed, HttpClient.HttpClient> =>
  Effect.mapError(send(request, progress, job.patience), (reason) => failed(job, reason, saved))
