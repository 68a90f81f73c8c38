import type { Progress } from "../../LiveMessage.ts"
import * as Text from "../../../model/Text.ts"

const cells = 10

const bar = (share: number): string => {
  const full = Math.round(share * cells)
  return "\u2593".repeat(full) + "\u2591".repeat(cells - full)
}

/** Shows progress as a bar if its end is known, and as a count otherwise. */
export const render = ({ done, label, total }: Progress): Text.Text => {
  const share = total === undefined || !(total > 0) ? undefined : Math.min(1, Math.max(0, done / total))
  const line = share === undefined ? `${done}` : `${bar(share)} ${Math.floor(share * 100)} %`
  return label === undefined ? Text.plain(line) : Text.join([label, line], "\n")
}
