import type { Door } from "./wire.ts"

/** A "no" that the API and the upload hosts have in common, in the shape of the door. */
export const atDoor = (door: Door, body: object): object => {
  if (door === "api") return body
  const { code, message } = body as { readonly code: string; readonly message: string }
  return { error_code: code, error_data: message }
}
