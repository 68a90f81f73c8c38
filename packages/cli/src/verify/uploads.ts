import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { expects, type Observe, returns } from "./observe.ts"
import { type Probe, read } from "./probe.ts"

const encoder = new TextEncoder()

/** An image of one pixel. */
const image = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (character) => character.charCodeAt(0)
)

const boundary = "colloquy-verify-platform"

/** A form with a file in the field `data`. */
const formOf = (name: string, content: Uint8Array): Uint8Array => {
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="data"; filename="${name}"\r\n\r\n`
  return Uint8Array.from([...encoder.encode(head), ...content, ...encoder.encode(`\r\n--${boundary}--\r\n`)])
}

type Type = "file" | "image"

/** Calls an upload address. */
const atAddress = (probe: Probe, type: Type, call: (url: string) => ReturnType<Probe["host"]>) =>
  Effect.flatMap(probe.call("POST", "/uploads", { query: { type } }), ({ body }) => call(String(read(body, "url"))))

/** Uploads a file in one request. */
const upload = (probe: Probe, type: Type, name: string, content: Uint8Array) => {
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` }
  return atAddress(probe, type, (url) => probe.host("POST", url, headers, formOf(name, content)))
}

/** Sends a part of a file of eight bytes. */
const sendPart = (probe: Probe, url: string, first: number, last: number) =>
  probe.host(
    "POST",
    url,
    {
      "content-type": "application/octet-stream",
      "content-disposition": 'attachment; filename="a.txt"',
      "content-range": `bytes ${first}-${last}/8`
    },
    new Uint8Array(last - first + 1)
  )

const photoToken = {
  photos: (photos: unknown) =>
    Predicate.isObjectOrArray(photos) && Predicate.isString(read(Object.values(photos)[0], "token"))
}

const isFirstPart = (body: unknown): boolean => String(body).trim() === "0-3/8"

/** The observations of uploads. A file that no message has is not visible to anybody. */
export const uploads = {
  mediaUploadResponse: (probe) => returns(upload(probe, "image", "a.png", image), "`photos` with a token", photoToken),
  unrecognizedImages: (probe) =>
    returns(
      upload(probe, "image", "a.png", encoder.encode("No image")),
      "`photos` with a token for a text",
      photoToken
    ),
  fileUploadResponse: (probe) =>
    returns(upload(probe, "file", "a.txt", encoder.encode("A file")), "`token` and `fileId`", {
      token: Predicate.isString,
      fileId: Predicate.isNumber
    }),
  forbiddenExtension: (probe) =>
    expects(upload(probe, "image", "a.exe", image), "415 for an image a.exe", { status: 415 }),
  partResponse: (probe) =>
    expects(
      atAddress(probe, "file", (url) => sendPart(probe, url, 0, 3)),
      "`0-3/8`",
      { body: isFirstPart }
    ),
  uploadStatus: (probe) =>
    returns(
      atAddress(probe, "file", (url) => Effect.andThen(sendPart(probe, url, 0, 3), probe.host("GET", url, {}))),
      "200 and `0-3/8`",
      isFirstPart
    ),
  misplacedPart: (probe) =>
    expects(
      atAddress(probe, "file", (url) => sendPart(probe, url, 4, 7)),
      "416 or 500",
      { status: (status) => status === 416 || status === 500 }
    )
} satisfies Readonly<Record<string, Observe>>
