import { act, toast } from "../store.ts"

/** A file that is attached to the message in the composer. */
export interface Draft {
  readonly id: number
  readonly name: string
  readonly size: number
  readonly type: "image" | "video" | "audio" | "file"
  readonly token: string
}

/** The largest content that is sent: the body of a call has at most 16 MiB, and Base64 needs a third more. */
const maxContent = 11 * 2 ** 20

const kindOf = ({ name, type }: File): Draft["type"] => {
  if (/^image\/(png|jpeg|gif|webp|bmp|tiff)$/.test(type)) return "image"
  if (type.startsWith("video/") || /\.(mp4|mov|mkv|webm)$/i.test(name)) return "video"
  return type.startsWith("audio/") ? "audio" : "file"
}

let last = 0

/** The content of a file as Base64, which follows the comma of a data URL. */
const readBytes = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^[^,]*,/, "")))
    reader.addEventListener("error", () => reject(reader.error ?? new Error("the file cannot be read")))
    reader.readAsDataURL(file)
  })

/** Uploads files as a person does. A bot can download the files whose content is sent. */
export const upload = async (files: Iterable<File>): Promise<ReadonlyArray<Draft>> => {
  const drafts: Array<Draft> = []
  for (const file of files) {
    const type = kindOf(file)
    if (type === "image" && file.size > maxContent) {
      toast(`${file.name} is larger than 11 MB, so it is sent as a file`)
    }
    const kind = type === "image" && file.size > maxContent ? "file" : type
    try {
      const content = file.size <= maxContent ? { content: (await readBytes(file)) as never } : { size: file.size }
      const created = await act("createMedia", { type: kind, filename: file.name, ...content })
      if (created !== undefined)
        drafts.push({ id: ++last, name: file.name, size: file.size, type: kind, token: created.token })
    } catch (error) {
      toast(`${file.name} cannot be read: ${String(error)}`, "error")
    }
  }
  return drafts
}
