/** What a body holds in a key. */
export const member = (body: unknown, key: string): unknown =>
  typeof body === "object" && body !== null ? (body as Record<string, unknown>)[key] : undefined

/** Whether a status says that it was carried out. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** An answer that says `success: false` though its status says otherwise. */
export const isRejected = (body: unknown, status: number): boolean =>
  isSuccess(status) && member(body, "success") === false
