/** What the bot of a recording and its auditor agree on. */

export const databaseName = "inbox.sqlite"

/** The file of the folder in which the bot writes a line of JSON for each mark. */
export const marksName = "marks"

export const numbersName = "numbers"

/** What the bot was told that must survive. */
export type Mark =
  /** The webhook has answered 200 to the message with this number, or the platform was asked for the page after it. */
  | { readonly type: "stored"; readonly number: number }
  /** The platform was asked for the page after this marker. */
  | { readonly type: "page"; readonly marker: string }
  /** The reply to a message has reached the platform, after the step of its handler had this result. */
  | { readonly type: "sent"; readonly number: number; readonly receipt: string }
  /** The commit of the update with this id was confirmed. */
  | { readonly type: "settled"; readonly id: string }
