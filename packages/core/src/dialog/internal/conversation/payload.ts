import * as Result from "effect/Result"
import { payloadPrefix } from "../../../inbox/internal/handlers/dispatch.ts"
import type { UserId } from "../../../model/User.ts"

/** The payload of a button of a conversation. */
export interface Press {
  readonly run: string
  /** The name of the question. Empty for the question whether to start over. */
  readonly question: string
  /** The value of a choice, after a character for the action of the button, or another action. */
  readonly value: string
  /** The user to whom the button belongs. `undefined`: any member of the chat may press the button. */
  readonly user: UserId | undefined
}

/** The values of the buttons that every question can have. */
export const done = "done"
export const skip = "skip"
export const back = "back"
export const restart = "restart"
export const keep = "keep"

export const choice = (value: string): string => `.${value}`

/** The value of a button of several choices. The value names the requested state, so a second press changes nothing. */
export const choiceOfSeveral = (value: string, isChosen: boolean): string => `${isChosen ? "+" : "-"}${value}`

export const choiceOf = (value: string): string | undefined => (/^[.+-]/.test(value) ? value.slice(1) : undefined)

/** Whether a choice is chosen after a press. The buttons of earlier versions toggle the choice. */
export const isChosenBy = (value: string, isChosen: boolean): boolean =>
  value.startsWith(".") ? !isChosen : value.startsWith("+")

// The slash of the prefix distinguishes these payloads from the payloads of `Payload`, whose names have no slash.
const prefixOf = (name: string): string => `${payloadPrefix.conversation}${name}:`

export const encode = (name: string, { question, run, user, value }: Press): string =>
  prefixOf(name) + JSON.stringify(user === undefined ? [run, question, value] : [run, question, value, user])

/** Returns `undefined` for the payload of another conversation, and `"malformed"` for a payload that cannot be read. */
export const decode = (name: string, payload: string | null | undefined): Press | "malformed" | undefined => {
  const ownPrefix = prefixOf(name)
  // The name of another conversation can begin with this one and a colon.
  if (payload == null || !payload.startsWith(`${ownPrefix}[`)) return undefined
  const parsed = Result.try((): unknown => JSON.parse(payload.slice(ownPrefix.length)))
  if (Result.isFailure(parsed) || !Array.isArray(parsed.success)) return "malformed"
  const [run, question, value, user] = parsed.success as ReadonlyArray<unknown>
  return typeof run === "string" && typeof question === "string" && typeof value === "string"
    ? { run, question, value, user: typeof user === "number" ? (user as UserId) : undefined }
    : "malformed"
}
