import type { Message } from "../types.ts"

/** The summary of a message: its text, or the types of its attachments. */
export const summaryOf = ({ body, link }: Partial<Pick<Message, "body" | "link">>): string =>
  body?.text ||
  body?.attachments?.map(({ type }) => type.replaceAll("_", " ")).join(", ") ||
  (link?.type === "forward" ? `forwarded: ${link.message?.text || "message"}` : "message")
