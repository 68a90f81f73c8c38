/** @assumption A The limits of a keyboard: buttons in all, rows, buttons in a row, lengths of texts and payloads. */
export const buttons = 210
export const rows = 30
export const inRow = 7
export const inWideRow = 3
export const wideKinds: ReadonlyArray<string> = ["link", "open_app", "request_geo_location", "request_contact"]
export const text = 128
export const callbackPayload = 1024
export const clipboardPayload = 1024
export const appPayload = 512
export const url = 2048
