import type { Refusal } from "./refusal.ts"
import { type ListenerKind, respond, type Response } from "../../EmulatorHttp.ts"

/** A "no" that the API and the upload hosts have in common, in the shape of the door. */
export const atDoor = (door: ListenerKind, body: object): object => {
  if (door === "api") return body
  const { code, message } = body as { readonly code: string; readonly message: string }
  return { error_code: code, error_data: message }
}

/** A "no" as an answer, in the shape of the door. Those of the upload hosts have theirs already. */
export const toResponse = ({ body, headers, status }: Refusal, door: ListenerKind = "api"): Response =>
  respond(status, atDoor(door, body), headers)
