import { costsOf } from "./child.ts"
import { compare, type Measured, median } from "./figure.ts"

const methods = ["multipart", "resumable"] as const

/** How much the uploading process grows for 4 GB: the method that takes more. */
export const uploaderGrowth = async (): Promise<Measured> => {
  const grown: Array<number> = []
  for (const method of methods) grown.push((await costsOf(["upload-rss.ts", method]))["grown"][0])
  return {
    value: Math.max(...grown),
    detail: methods.map((method, at) => `${method} ${grown[at].toFixed(1)} MB`).join(", ")
  }
}

/** CPU of 1 GB over undici streaming the same file: the method that takes more. */
export const uploadCost = async (): Promise<Measured> => {
  const costs = await costsOf("upload-cpu.ts")
  const measured = methods.map((method) =>
    compare({ name: method, costs: costs[method] }, { name: "undici.request", costs: costs["undici"] }, "ms CPU")
  )
  return {
    value: Math.max(...measured.map(({ value }) => value)),
    detail: measured.map(({ detail }) => detail).join("; ")
  }
}

/** Bytes sent over bytes of a file of which the upload is cut 10 times. */
export const bytesOverFile = async (): Promise<Measured> => {
  const { ratios } = await costsOf("upload-resume.ts")
  return {
    value: median(ratios),
    detail: `1 GB cut 10 times at random: ${ratios.map((ratio) => ratio.toFixed(4)).join(", ")}`
  }
}
