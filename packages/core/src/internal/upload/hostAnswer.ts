import * as Result from "effect/Result"
import { Rejected, InvalidResponse } from "../../UploadError.ts"
import type { Media } from "../../UploadEvent.ts"
import type { UploadType } from "../../Uploads.ts"

/** An answer of an upload host as it came. */
export interface HostAnswer {
  readonly status: number
  readonly text: string
}

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const membersOf = (text: string): Members =>
  Result.match(
    Result.try((): unknown => JSON.parse(text)),
    { onFailure: () => ({}), onSuccess: (json) => (isMembers(json) ? json : {}) }
  )

const given = <Key extends string>(key: Key, value: unknown) =>
  (typeof value === "string" || typeof value === "number" ? { [key]: String(value) } : {}) as {
    readonly [K in Key]?: string
  }

const retvalOf = (text: string): string | undefined => /<retval>\s*([^<]*?)\s*<\/retval>/.exec(text)?.[1]

/** @assumption uploadRejections */
export const refusalOf = ({ status, text }: HostAnswer): Rejected | undefined => {
  const { error_code, error_data } = membersOf(text)
  const retval = retvalOf(text)
  const isRefusal = status < 200 || status >= 300 || error_code != null || (retval !== undefined && retval !== "1")
  return isRefusal
    ? new Rejected({
        status,
        ...given("code", error_code ?? retval),
        ...given("detail", typeof error_data === "object" ? JSON.stringify(error_data) : error_data),
        body: text
      })
    : undefined
}

/** @assumption partResponse */
export const placeIn = (text: string, size: number): number | undefined => {
  const [, last, whole] = /^\s*0-(\d+)\/(\d+)\s*$/.exec(text) ?? []
  return last !== undefined && Number(whole) === size && Number(last) < size ? Number(last) + 1 : undefined
}

const isToken = (value: unknown): value is string => typeof value === "string" && value !== ""

const photosIn = (value: unknown): Readonly<Record<string, { readonly token: string }>> | undefined => {
  const photos = Object.entries(isMembers(value) ? value : {}).flatMap(([key, photo]) =>
    isMembers(photo) && isToken(photo["token"]) ? [[key, { token: photo["token"] }] as const] : []
  )
  return photos.length === 0 ? undefined : Object.fromEntries(photos)
}

/** Whether the token comes with the address, before the upload. */
export const isPromised = (type: UploadType): boolean => type === "video" || type === "audio"

/** Whether an answer without a token says that the file is complete. */
const saysComplete = (text: string, size: number | undefined): boolean =>
  retvalOf(text) === "1" || (size !== undefined && placeIn(text, size) === size)

/**
 * The attachment of a file that has arrived. The token of a video or of audio came with the address, that of a picture
 * or of a file comes now.
 *
 * @assumption mediaUploadResponse
 * @assumption fileUploadResponse
 */
export const mediaIn = (
  type: UploadType,
  tokenOfAddress: string | undefined,
  { status, text }: HostAnswer,
  size: number | undefined
): Result.Result<Media, InvalidResponse> => {
  const { photos, token } = membersOf(text)
  const pictures = photosIn(photos)
  if (type === "image" && pictures !== undefined) return Result.succeed({ type, payload: { photos: pictures } })
  const answered = isToken(token) ? token : undefined
  const found =
    isPromised(type) && (answered !== undefined || saysComplete(text, size)) ? (tokenOfAddress ?? answered) : answered
  return found === undefined
    ? Result.fail(new InvalidResponse({ status, problem: problemOf(type, tokenOfAddress, text), body: text }))
    : Result.succeed({ type, payload: { token: found } })
}

const problemOf = (type: UploadType, tokenOfAddress: string | undefined, text: string): string => {
  if (text.trim() === "") return "it is empty"
  if (!isPromised(type)) return "it has no token"
  return tokenOfAddress === undefined
    ? "neither it nor the address has a token"
    : "it does not say that the file is complete"
}
