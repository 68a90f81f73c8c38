import * as Effect from "effect/Effect"
import type { Observe } from "./observe.ts"
import { type Answer, type Probe, read, unless } from "./probe.ts"

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

/** Requests an upload address. */
const addressOf = (probe: Probe, type: Type) =>
  Effect.map(probe.call("POST", "/uploads", { query: { type } }), ({ body }) => String(read(body, "url")))

/** Observes the upload of a file in one request. */
const uploaded =
  (
    type: Type,
    name: string,
    content: Uint8Array,
    expected: string,
    isExpected: (status: number, body: unknown) => boolean
  ): Observe =>
  (probe) =>
    Effect.gen(function* () {
      const headers = { "content-type": `multipart/form-data; boundary=${boundary}` }
      const answer = yield* probe.host("POST", yield* addressOf(probe, type), headers, formOf(name, content))
      return unless(isExpected(answer.status, answer.body), expected, answer)
    })

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

/** Observes an upload in parts. */
const inParts =
  (
    expected: string,
    isExpected: (answer: Answer) => boolean,
    call: (probe: Probe, url: string) => ReturnType<Probe["host"]>
  ): Observe =>
  (probe) =>
    Effect.gen(function* () {
      const answer = yield* call(probe, yield* addressOf(probe, "file"))
      return unless(isExpected(answer), expected, answer)
    })

const hasPhotoToken = (status: number, body: unknown): boolean => {
  const photos = read(body, "photos")
  const [photo] = typeof photos === "object" && photos !== null ? Object.values(photos) : []
  return status === 200 && typeof read(photo, "token") === "string"
}

/** The observations of uploads. A file that no message has is not visible to anybody. */
export const uploads = {
  mediaUploadResponse: uploaded("image", "a.png", image, "`photos` with a token", hasPhotoToken),
  unrecognizedImages: uploaded(
    "image",
    "a.png",
    encoder.encode("No image"),
    "`photos` with a token for a text",
    hasPhotoToken
  ),
  fileUploadResponse: uploaded(
    "file",
    "a.txt",
    encoder.encode("A file"),
    "`token` and `fileId`",
    (status, body) =>
      status === 200 && typeof read(body, "token") === "string" && typeof read(body, "fileId") === "number"
  ),
  forbiddenExtension: uploaded("image", "a.exe", image, "415 for an image a.exe", (status) => status === 415),
  partResponse: inParts(
    "`0-3/8`",
    ({ body }) => String(body).trim() === "0-3/8",
    (probe, url) => sendPart(probe, url, 0, 3)
  ),
  uploadStatus: inParts(
    "200 and `0-3/8`",
    ({ body, status }) => status === 200 && String(body).trim() === "0-3/8",
    (probe, url) => Effect.andThen(sendPart(probe, url, 0, 3), probe.host("GET", url, {}))
  ),
  misplacedPart: inParts(
    "416 or 500",
    ({ status }) => status === 416 || status === 500,
    (probe, url) => sendPart(probe, url, 4, 7)
  )
} satisfies Readonly<Record<string, Observe>>
