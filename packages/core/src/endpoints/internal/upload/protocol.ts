import { isObject } from "effect/Predicate"
import * as Result from "effect/Result"
import type { Media, UploadType } from "../../Upload.ts"
import { InvalidResponse, Rejected } from "../../UploadError.ts"
import { parsePlain } from "../../../base/internal/json.ts"

/** A response of the upload host. */
export interface HostResponse {
  readonly status: number
  readonly text: string
}

// Hosts do not decode these characters. A percent sign would start an escape.
const unescapedName = /^[ !#$&'()+,.0-9;=@A-Z[\]^_`a-z{}~-]*$/

const looksEscaped = /%[\da-f]{2}/i

const percentEncode = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )

/**
 * Returns the parameter of a `Content-Disposition` header that states the name of a file.
 *
 * @assumption fileNameEncoding
 */
export const fileNameParameter = (name: string): string => {
  if (unescapedName.test(name)) return `filename="${name}"`
  const encoded = percentEncode(name)
  // A host that reads both parameters as one parameter would decode a name such as "a%20b" twice.
  return looksEscaped.test(name) ? `filename="${encoded}"` : `filename="${encoded}"; filename*=UTF-8''${encoded}`
}

const parse = (text: string): unknown => Result.getOrUndefined(Result.try(() => parsePlain(text)))

const parseObject = (text: string): Readonly<Record<string, unknown>> => {
  const json = parse(text)
  return isObject(json) ? json : {}
}

const optionalText = <Key extends string>(key: Key, value: unknown) =>
  (typeof value === "string" || typeof value === "number" ? { [key]: String(value) } : {}) as {
    readonly [K in Key]?: string
  }

// The value is XML in most responses, and a member of JSON or a number alone in others.
const retvalOf = (text: string): string | undefined => {
  const xml = /<retval>\s*([^<]*?)\s*<\/retval>/.exec(text)?.[1]
  if (xml !== undefined) return xml
  const json = parse(text)
  const value = isObject(json) ? json["retval"] : json
  return typeof value === "number" || (typeof value === "string" && isObject(json)) ? String(value) : undefined
}

/**
 * Returns the rejection that a response states, if any.
 *
 * @assumption uploadRejections
 */
export const rejectionOf = ({ status, text }: HostResponse): Rejected | undefined => {
  const { error_code, error_data } = parseObject(text)
  const retval = retvalOf(text)
  const isRejection = status < 200 || status >= 300 || error_code != null || (retval !== undefined && retval !== "1")
  return isRejection
    ? new Rejected({
        status,
        ...optionalText("code", error_code ?? retval),
        ...optionalText("detail", typeof error_data === "object" ? JSON.stringify(error_data) : error_data),
        body: text
      })
    : undefined
}

/**
 * Returns the number of bytes that the host has received, if stated by the response.
 *
 * @assumption partResponse
 */
export const receivedBytes = (text: string, size: number): number | undefined => {
  const [, last, total] = /^\s*0-(\d+)\/(\d+)\s*$/.exec(text) ?? []
  return last !== undefined && Number(total) === size && Number(last) < size ? Number(last) + 1 : undefined
}

const isToken = (value: unknown): value is string => typeof value === "string" && value !== ""

const photosOf = (value: unknown): Readonly<Record<string, { readonly token: string }>> | undefined => {
  const photos = Object.entries(isObject(value) ? value : {}).flatMap(([key, photo]) =>
    isObject(photo) && isToken(photo["token"]) ? [[key, { token: photo["token"] }] as const] : []
  )
  return photos.length === 0 ? undefined : Object.fromEntries(photos)
}

/** Whether the token comes with the address, before the upload. */
export const hasTokenInAddress = (type: UploadType): boolean => type === "video" || type === "audio"

const statesCompletion = (text: string, size: number | undefined): boolean =>
  retvalOf(text) === "1" || (size !== undefined && receivedBytes(text, size) === size)

/**
 * Returns the attachment of a complete upload. The token of a video or an audio came with the address; the token of an
 * image or a file is in the response.
 *
 * @assumption mediaUploadResponse
 * @assumption fileUploadResponse
 */
export const mediaOf = (
  type: UploadType,
  addressToken: string | undefined,
  { status, text }: HostResponse,
  size: number | undefined
): Result.Result<Media, InvalidResponse> => {
  const { photos, token } = parseObject(text)
  const images = photosOf(photos)
  if (type === "image" && images !== undefined) return Result.succeed({ type, payload: { photos: images } })
  const responseToken = isToken(token) ? token : undefined
  const isComplete = responseToken !== undefined || statesCompletion(text, size)
  const mediaToken = hasTokenInAddress(type) && isComplete ? (addressToken ?? responseToken) : responseToken
  return mediaToken === undefined
    ? Result.fail(new InvalidResponse({ status, problem: problemOf(type, addressToken, text), body: text }))
    : Result.succeed({ type, payload: { token: mediaToken } })
}

const problemOf = (type: UploadType, addressToken: string | undefined, text: string): string => {
  if (text.trim() === "") return "it is empty"
  if (!hasTokenInAddress(type)) return "it has no token"
  return addressToken === undefined
    ? "neither it nor the upload address has a token"
    : "it does not state that the file is complete"
}
