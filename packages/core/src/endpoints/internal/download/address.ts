import * as Effect from "effect/Effect"
import * as Url from "effect/http/Url"
import * as Result from "effect/Result"
import type * as ApiError from "../../../client/ApiError.ts"
import type { BotApi } from "../../../client/BotApi.ts"
import { isPublicHost } from "../../../client/PublicHost.ts"
import type { Attachment } from "../../../model/Attachment.ts"
import type { Message, MessageId } from "../../../model/Message.ts"
import type { Downloadable } from "../../Attachments.ts"
import { AddressRefused } from "../../DownloadError.ts"
import * as Messages from "../../Messages.ts"
import * as Videos from "../../Videos.ts"

/** The parts of a URL that a download reads. Core has no type of `URL`. */
export interface Address {
  readonly href: string
  readonly host: string
  readonly hostname: string
  readonly origin: string
  readonly protocol: string
  readonly username: string
  readonly password: string
}

/** Parses an address, also one that is relative to another. */
export const parse = (text: string, base?: string): Address | undefined =>
  Result.getOrUndefined(Url.fromString(text, base) as Result.Result<Address, unknown>)

/** Checks whether the bot may send a request to an address. `privateHosts` are allowed in any case. */
export const check = (
  address: Address | undefined,
  privateHosts: ReadonlyArray<string>
): AddressRefused | undefined => {
  if (address === undefined) return new AddressRefused({ host: "", problem: "Malformed" })
  const { host, hostname, password, protocol, username } = address
  const isPrivateHost = privateHosts.includes(hostname)
  const problem =
    protocol !== "https:" && !(protocol === "http:" && isPrivateHost)
      ? "Insecure"
      : username !== "" || password !== ""
        ? "Credentials"
        : isPrivateHost || isPublicHost(hostname)
          ? undefined
          : "Private"
  return problem === undefined ? undefined : new AddressRefused({ host, problem })
}

type Lookup = Effect.Effect<string | undefined, ApiError.Common, BotApi>

const renditionHeight = /^mp4_(\d+)$/

/**
 * The address of the largest rendition of a video that is a file.
 *
 * @assumption videoFiles
 */
const videoAddress = (token: string): Lookup =>
  Videos.get({ token }).pipe(
    Effect.map(({ urls }) => {
      const height = (name: string) => Number(renditionHeight.exec(name)?.[1] ?? 0)
      const files = Object.entries(urls ?? {}).filter(([name, url]) => height(name) > 0 && url != null)
      return files.sort(([a], [b]) => height(b) - height(a))[0]?.[1] ?? undefined
    }),
    Effect.catchTags({ NotFound: () => Effect.succeed(undefined), Forbidden: () => Effect.succeed(undefined) })
  )

/** The address of a file before the first request. */
export const find = (attachment: Downloadable): Lookup =>
  attachment.type === "video"
    ? Effect.map(videoAddress(attachment.payload.token), (url) => url ?? attachment.payload.url ?? undefined)
    : Effect.succeed(attachment.payload.url ?? undefined)

/** The text by which the platform identifies a file. */
export const keyOf = (attachment: Downloadable): string =>
  `${attachment.type} ${attachment.type === "sticker" ? attachment.payload.code : attachment.payload.token}`

const isDownloadable = (attachment: Attachment): attachment is Downloadable =>
  ["image", "video", "audio", "file", "sticker"].includes(attachment.type)

const addressIn = ({ body, link }: Message, key: string): string | undefined =>
  [...(body?.attachments ?? []), ...(link?.message?.attachments ?? [])]
    .filter(isDownloadable)
    .find((attachment) => keyOf(attachment) === key)?.payload.url ?? undefined

/**
 * A new address of a file whose address has expired: of a video by its token, of other files by their message. `undefined`
 * if the platform has none.
 *
 * @assumption renewedAddresses
 */
export const renew = (attachment: Downloadable, message_id: MessageId | undefined): Lookup => {
  if (attachment.type === "video") return videoAddress(attachment.payload.token)
  if (message_id === undefined) return Effect.succeed(undefined)
  return Messages.get({ message_id }).pipe(
    Effect.map((message) => addressIn(message, keyOf(attachment))),
    Effect.catchTags({ NotFound: () => Effect.succeed(undefined), Forbidden: () => Effect.succeed(undefined) })
  )
}
