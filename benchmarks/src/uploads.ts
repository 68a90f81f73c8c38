import { costsOf } from "./child.ts"
import { compare, type Measured, median } from "./figure.ts"

const methods = ["multipart", "resumable"] as const

/** Memory growth of a process that uploads 4 GB. The method with the higher growth counts. */
export const uploaderGrowth = async (): Promise<Measured> => {
  const grown: Array<number> = []
  for (const method of methods) grown.push((await costsOf(["upload-rss.ts", method]))["grown"][0])
  return {
    value: Math.max(...grown),
    detail: methods.map((method, at) => `${method} ${grown[at].toFixed(1)} MB`).join(", ")
  }
}

/** CPU time of a 1 GB upload over undici streaming the same file. The method with the higher cost counts. */
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

/** Bytes sent over the size of the file, with 10 lost connections. */
export const bytesOverFile = async (): Promise<Measured> => {
  const { ratios } = await costsOf("upload-resume.ts")
  return {
    value: median(ratios),
    detail: `1 GB cut 10 times at random: ${ratios.map((ratio) => ratio.toFixed(4)).join(", ")}`
  }
}
